internal import PolicyStage
package import Timestamps

/// An expiry bucket: one minute of expiry times. Every token belongs to exactly one, independent of settings, so a
/// store searches only that bucket and deletes it as a whole when it has expired.
package struct ReplayBucket: Hashable, Comparable, Sendable {
    /// The width of a bucket in milliseconds.
    package static let width: Int64 = 60_000

    /// The bucket's start in minutes since 1970, rounded down. That of a token fits into 32 bits.
    package let index: Int64

    package init(index: Int64) {
        self.index = index
    }

    /// The bucket of tokens that expire at `until`. All that expire before 1970 share one, as do all after the year 9999.
    package init(expiring until: Timestamp) {
        index = min(max(0, until.milliseconds), Timestamp.endOfDates.milliseconds) / Self.width
    }

    /// The latest bucket whose tokens had all expired before `now` by more than any clock skew that a policy may allow.
    package init(lastPassedAt now: Timestamp) {
        let latest = now.advanced(byMilliseconds: -VerificationPolicy.largestClockSkewMilliseconds)
        index = latest.milliseconds.flooredQuotient(by: Self.width) - 1
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.index < right.index
    }

    /// The first time in the bucket.
    package var begin: Timestamp { Self.time(index) }

    /// The first time after the bucket.
    package var end: Timestamp { Self.time(index == .max ? .max : index + 1) }

    private static func time(_ index: Int64) -> Timestamp {
        let (milliseconds, overflows) = index.multipliedReportingOverflow(by: width)
        return Timestamp(milliseconds: overflows ? (index < 0 ? .min : .max) : milliseconds)
    }
}
