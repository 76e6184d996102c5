public import Basics
internal import PolicyStage

/// An expiry bucket: one minute of expiry times. Every token belongs to exactly one, independent of settings, so a
/// store searches only that bucket and deletes it as a whole when it has expired.
///
/// A store that has deleted a bucket keeps that fact, and answers every later claim in it
/// ``ReplayAnswer/predatesStore(since:)`` with the bucket's ``end``: a clock that goes back makes no token new.
public struct ReplayBucket: Hashable, Comparable, Sendable {
    /// The width of a bucket in milliseconds.
    package static let width: Int64 = 60_000

    /// The bucket's start in minutes since 1970, rounded down. That of a token fits into 32 bits.
    package let index: Int64

    package init(index: Int64) {
        self.index = index
    }

    /// The bucket of tokens that expire at `until`. All that expire before 1970 share one, as do all after the year
    /// 9999. A bucket that a store wrote down by its ``begin`` is read back by this initializer.
    public init(expiring until: Timestamp) {
        index = min(max(0, until.milliseconds), Timestamp.endOfDates.milliseconds) / Self.width
    }

    /// The latest bucket whose tokens had all expired before `now` by more than any clock skew that a policy may allow.
    public init(lastPassedAt now: Timestamp) {
        let latest = now.advanced(byMilliseconds: -VerificationPolicy.largestClockSkewMilliseconds)
        index = latest.milliseconds.flooredQuotient(by: Self.width) - 1
    }

    /// Whether the left bucket is of earlier expiry times.
    public static func < (left: Self, right: Self) -> Bool {
        left.index < right.index
    }

    /// The first time in the bucket.
    public var begin: Timestamp { Self.time(index) }

    /// The first time after the bucket.
    public var end: Timestamp { Self.time(index == .max ? .max : index + 1) }

    /// The time from which the bucket counts as passed: the first at which ``init(lastPassedAt:)`` gives it.
    package var passed: Timestamp { end.advanced(byMilliseconds: VerificationPolicy.largestClockSkewMilliseconds) }

    private static func time(_ index: Int64) -> Timestamp {
        let (milliseconds, overflows) = index.multipliedReportingOverflow(by: width)
        return Timestamp(milliseconds: overflows ? (index < 0 ? .min : .max) : milliseconds)
    }
}
