package import Basics

/// Allows the caller that consumed a token to retry for a short time, as a client does when the response was lost.
///
/// The token is accepted for the first caller. Within the retry window it is accepted again, but only for a request
/// with the same secret; any other request is rejected like any used token. The window starts at the first acceptance,
/// and retries do not extend it.
public struct RetryWindow: Sendable, CustomStringConvertible, CustomReflectable {
    let secret: [UInt8]
    private let milliseconds: Int64

    /// The longest window. No client waits longer than a minute for an answer.
    public static let longestSpan = Duration.seconds(60)

    /// The least number of bytes of a secret. Another client could guess a shorter one within the window.
    public static let shortestSecret = 16

    /// Creates a retry window for the caller that knows `secret`; `nil` if the secret is shorter than
    /// ``shortestSecret``.
    ///
    /// - Parameters:
    ///   - secret: a value that only this caller knows, such as a randomly generated `Idempotency-Key`.
    ///   - span: the length of the window. Values above ``longestSpan`` are treated as ``longestSpan``.
    public init?(secret: [UInt8], within span: Duration) {
        // Unreached: A secret that is too short; the gate's have a key of at least 16 characters, or the ID of a
        // request.
        guard secret.count >= Self.shortestSecret else { return nil }
        self.secret = secret
        milliseconds = min(span, Self.longestSpan).clampedMilliseconds
    }

    // Unreached: Compares with an earlier use, and the store of the properties remembers none.
    /// Whether a use at `first` may be repeated at `now`. `now` may be slightly earlier than `first`, because gates
    /// that share a store have separate clocks.
    package func isOpen(_ first: Timestamp, at now: Timestamp) -> Bool {
        now <= first.advanced(byMilliseconds: milliseconds) && first <= now.advanced(byMilliseconds: milliseconds)
    }

    /// A text with the length of the window, without the secret.
    public var description: String { "(within \(milliseconds) ms, secret withheld)" }
    /// An empty mirror, so that a dump does not show the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
