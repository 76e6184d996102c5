internal import Timestamps

/// Lets whoever used a token ask again for a while, as a client does whose answer was lost.
///
/// The first yes is given to whoever comes first. After that it is given again only for the same secret, and only within the
/// span, from the first yes on and not from the last.
public struct Repetition: Sendable, CustomStringConvertible, CustomReflectable {
    let secret: [UInt8]
    private let milliseconds: Int64

    /// The longest span: beyond a minute nobody waits for the answer.
    public static let longestSpan = Duration.seconds(60)

    /// - Parameters:
    ///   - secret: what this asker alone knows, such as an `Idempotency-Key` made at random.
    ///   - span: how long the yes may be given again; at most ``longestSpan`` count.
    public init(secret: [UInt8], within span: Duration) {
        self.secret = secret
        milliseconds = min(span, Self.longestSpan).clampedMilliseconds
    }

    /// Whether a use at `first` may be repeated at `now`. That may be a little earlier: gates that share a store have clocks
    /// of their own.
    func isOpen(_ first: Timestamp, at now: Timestamp) -> Bool {
        now <= first.advanced(byMilliseconds: milliseconds) && first <= now.advanced(byMilliseconds: milliseconds)
    }

    /// Says that there is a secret.
    public var description: String { "(within \(milliseconds) ms, secret withheld)" }
    /// Nothing: a dump shall not show it either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
