internal import HTTPMessages
internal import PlaybackGrants
internal import TextEncodings
internal import Threading

/// The grants of one route that were made last. Clients that ask in the same second for what one grant opens get the same
/// grant, which is made once.
final class RecentGrants: Sendable {
    struct Made: Sendable {
        let grant: Grant
        /// The second since 1970 in which the grant was made.
        let second: Int64
        /// The `Set-Cookie` fields that deliver the grant, as they are in that second; empty if its URL delivers it.
        let cookies: HTTPFields
    }

    private struct Key: Hashable {
        let subject: String
        let end: Int64

        static func == (left: Self, right: Self) -> Bool {
            left.end == right.end && left.subject.hasSameBytes(as: right.subject)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(end)
            subject.hashBytes(into: &hasher)
        }
    }

    /// Two generations: the newer one becomes the older when it is full.
    private let generations = Guarded((newer: [Key: Made](), older: [Key: Made]()))

    private static let capacity = 128

    /// The grant of this subject (see `RouteGrants.subject(of:)`) that ends at this second.
    func grant(for subject: String, endingAt end: Int64) -> Made? {
        let key = Key(subject: subject, end: end)
        return generations.withLock { $0.newer[key] ?? $0.older[key] }
    }

    func keep(_ made: Made, for subject: String, endingAt end: Int64) {
        generations.withLock {
            if $0.newer.count >= Self.capacity { $0 = ([:], $0.newer) }
            $0.newer[Key(subject: subject, end: end)] = made
        }
    }
}
