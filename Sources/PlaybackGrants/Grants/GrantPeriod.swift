public import Timestamps

/// From when until when a grant holds, in whole seconds, as all CDNs count.
public struct GrantPeriod: Sendable, Equatable {
    /// Seconds since 1970; `nil` for ever since.
    public let begin: Int64?
    /// Seconds since 1970: the first second in which it holds no more, or the last in which it does. CDNs differ there.
    public let end: Int64

    /// The year 9999 ends before this.
    private static let latest: Int64 = 253_402_300_800

    /// - Throws: ``GrantProblem`` for the field `expires` or `starts` where the end is before the beginning, or beyond the
    ///   years from 1970 to 9999.
    public init(from begin: Int64? = nil, to end: Int64) throws(GrantProblem) {
        guard (1..<Self.latest).contains(end) else {
            throw GrantProblem("expires", "is \(end); expected seconds since 1970, before the year 10000")
        }
        guard begin.map({ (0...end).contains($0) }) ?? true else {
            throw GrantProblem("starts", "is \(begin ?? 0), and expires is \(end); expected a time before that")
        }
        (self.begin, self.end) = (begin, end)
    }

    /// From `now` on, rounded down, for so many seconds.
    ///
    /// - Throws: ``GrantProblem`` for the field `validity` or `clock`.
    public init(from now: Timestamp, seconds: Int64, hasBegin: Bool = false) throws(GrantProblem) {
        guard (1...Self.longestSeconds).contains(seconds) else {
            throw GrantProblem("validity", "is \(seconds) s; expected 1 to \(Self.longestSeconds)")
        }
        let begin = now.milliseconds / 1000
        guard (0..<Self.latest - Self.longestSeconds).contains(begin) else {
            throw GrantProblem("clock", "is \(begin) s since 1970; expected a year from 1970 to 9998")
        }
        try self.init(from: hasBegin ? begin : nil, to: begin + seconds)
    }

    /// A month of 31 days. What holds longer is no grant for one play.
    public static let longestSeconds: Int64 = 2_678_400

    var expires: Timestamp { Timestamp(milliseconds: end * 1000) }
}
