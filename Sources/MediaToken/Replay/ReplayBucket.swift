package import Timestamps

/// A minute of expiry times. Every token falls into exactly one, whatever the settings of the day, so a store looks into
/// just that one and drops it whole when it has passed.
package struct ReplayBucket: Hashable, Comparable, Sendable {
    /// Width of a bucket in milliseconds.
    package static let width: Int64 = 60_000

    /// Minutes since 1970, rounded down.
    package let index: Int64

    package init(index: Int64) {
        self.index = index
    }

    /// The bucket of tokens that expire at `until`.
    package init(expiring until: Timestamp) {
        index = until.milliseconds.flooredQuotient(by: Self.width)
    }

    /// The latest bucket all of whose tokens have expired at `now` by more than any skew that a policy may allow.
    package init(lastPassedAt now: Timestamp) {
        let latest = now.advanced(byMilliseconds: -VerificationPolicy.largestClockSkewMilliseconds)
        index = latest.milliseconds.flooredQuotient(by: Self.width) - 1
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.index < right.index
    }

    /// The bucket's first moment.
    package var begin: Timestamp { Self.moment(index) }

    /// The first moment after the bucket.
    package var end: Timestamp { Self.moment(index == .max ? .max : index + 1) }

    private static func moment(_ index: Int64) -> Timestamp {
        let (milliseconds, overflows) = index.multipliedReportingOverflow(by: width)
        return Timestamp(milliseconds: overflows ? (index < 0 ? .min : .max) : milliseconds)
    }
}
