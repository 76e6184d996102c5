internal import Basics
internal import HTTP
internal import PlaybackGrants

/// The grants of one route that were made last. Clients that ask in the same second for what one grant opens get the
/// same grant, which is made once.
final class RecentGrants: Sendable {
    struct Made: Sendable {
        let grant: Grant
        /// The second since 1970 in which the grant was made.
        let second: Int64
        /// The `Set-Cookie` fields that deliver the grant, made in ``second``; empty if its URL delivers it.
        let cookies: HTTPFields
    }

    /// Two generations: the newer one becomes the older when it is full.
    private let generations = Guarded((newer: [GrantOrder.Key: Made](), older: [GrantOrder.Key: Made]()))

    private static let capacity = 128

    func made(for key: GrantOrder.Key) -> Made? { generations.withLock { $0.newer[key] ?? $0.older[key] } }

    func keep(_ made: Made, for key: GrantOrder.Key) {
        generations.withLock {
            if $0.newer.count >= Self.capacity { $0 = ([:], $0.newer) }
            $0.newer[key] = made
        }
    }
}
