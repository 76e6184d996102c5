public import Basics

/// The validity period of a grant in whole seconds, as all CDNs count.
public struct GrantPeriod: Sendable, Equatable {
    /// The start in seconds since 1970; `nil` if the grant has none.
    public let begin: Int64?
    /// The expiry in seconds since 1970. Depending on the CDN, this is the last second in which the grant is valid, or
    /// the first in which it no longer is.
    public let end: Int64

    /// The first second of the year 10000. An expiry must be before it.
    static let latest: Int64 = 253_402_300_800

    /// Creates a period from a start, if there is one, to an expiry, both in seconds since 1970.
    ///
    /// - Throws: ``GrantError`` for the field `expires` or `starts` if the expiry is before the start, or if a time
    ///   is outside the years 1970 to 9999.
    public init(from begin: Int64? = nil, to end: Int64) throws(GrantError) {
        guard (1..<Self.latest).contains(end) else {
            throw GrantError("expires", "is \(end); expected seconds since 1970, before the year 10000")
        }
        guard begin.map({ (0...end).contains($0) }) ?? true else {
            throw GrantError("starts", "is \(begin ?? 0), and expires is \(end); expected a time before that")
        }
        (self.begin, self.end) = (begin, end)
    }

    /// Creates a period of `validity` from `now`, both rounded down to seconds. The period has no start.
    ///
    /// - Throws: ``GrantError`` for the field `validity` or `clock`.
    public init(from now: Timestamp, lasting validity: Duration) throws(GrantError) {
        let (seconds, longest) = (validity.components.seconds, Self.longest.components.seconds)
        guard (1...longest).contains(seconds) else {
            throw GrantError("validity", "is \(seconds) s; expected 1 to \(longest)")
        }
        let begin = now.wholeSeconds
        guard (0..<Self.latest - longest).contains(begin) else {
            throw GrantError("clock", "is \(begin) s since 1970; expected a year from 1970 to 9998")
        }
        try self.init(from: nil, to: begin + seconds)
    }

    /// The maximum validity period: a month of 31 days. A longer grant would not be for a single play.
    public static let longest = Duration.seconds(2_678_400)

    /// Throws ``GrantError`` for the field `expires` if the CDN reads no such time.
    func demand(_ limit: TimeLimit) throws(GrantError) {
        if let problem = limit.problem(of: end) { throw GrantError("expires", "is \(problem)") }
    }

    var expires: Timestamp { Timestamp(milliseconds: end * 1000) }
}

/// The last second since 1970 that a CDN is known to read as an expiry.
struct TimeLimit: Sendable {
    let last: Int64
    /// Whose limit this is, for a message.
    let owner: String

    /// Why the CDN does not read a number of seconds since 1970 as an expiry; `nil` if it does.
    func problem(of end: Int64) -> String? {
        guard end > last else { return nil }
        let isLikelyInMilliseconds = end > GrantPeriod.latest
        return "\(end), after \(last.secondsAsDate), the latest expiry for \(owner)"
            + (isLikelyInMilliseconds ? "; is it in milliseconds?" : "")
    }
}
