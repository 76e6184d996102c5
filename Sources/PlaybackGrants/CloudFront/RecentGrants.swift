internal import Threading

/// The grants that were signed last. All who ask for the same URLs and the same second get the same grant.
final class RecentGrants: Sendable {
    private struct Key: Hashable {
        /// ASCII, as a policy's URL is.
        let url: String
        let end: Int64
    }

    /// Two generations: the newer one becomes the older when it is full.
    private let generations = Guarded((newer: [Key: Grant](), older: [Key: Grant]()))

    private static let capacity = 128

    func grant(for url: String, _ period: GrantPeriod) -> Grant? {
        let key = Key(url: url, end: period.end)
        return generations.withLock { $0.newer[key] ?? $0.older[key] }
    }

    func keep(_ grant: Grant, for url: String, _ period: GrantPeriod) {
        generations.withLock {
            if $0.newer.count >= Self.capacity { $0 = ([:], $0.newer) }
            $0.newer[Key(url: url, end: period.end)] = grant
        }
    }
}
