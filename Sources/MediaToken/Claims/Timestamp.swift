internal import Glibc

/// A moment, in milliseconds since 1970-01-01 00:00:00 UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970, negative before.
    public let milliseconds: Int64

    /// The first millisecond after what a token's date can say, the year 9999.
    static let endOfDates = Timestamp(milliseconds: 253_402_300_800_000)

    /// Takes milliseconds since 1970.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The system's real-time clock.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whether the left moment is earlier.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Later by `duration` milliseconds, and no later than Int64 can say.
    package func advanced(byMilliseconds duration: Int64) -> Timestamp {
        let (sum, overflows) = milliseconds.addingReportingOverflow(duration)
        return Timestamp(milliseconds: overflows ? (duration < 0 ? .min : .max) : sum)
    }

    /// Milliseconds from `other` to this moment, and no more than Int64 can say.
    func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflows) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        return overflows ? (other.milliseconds < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; as far as Int64 goes.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return Timestamp(milliseconds: scaled).advanced(byMilliseconds: attoseconds / 1_000_000_000_000_000)
            .milliseconds
    }
}
