internal import Glibc

/// A point in time, in milliseconds since 1970-01-01 00:00:00 UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970; negative for earlier times.
    public let milliseconds: Int64

    /// The first millisecond of the year 10000, which a date with four digits for the year cannot express.
    package static let endOfDates = Timestamp(milliseconds: 253_402_300_800_000)

    /// Creates a timestamp from milliseconds since 1970.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The current time of the system's real-time clock.
    public static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Whether the left time is earlier.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    // Unreached: Places fences, which the properties' stores do not have.
    /// The time that is later by `duration`, in whole milliseconds.
    public func advanced(by duration: Duration) -> Timestamp {
        advanced(byMilliseconds: duration.clampedMilliseconds)
    }

    /// The time `duration` milliseconds later, clamped to the range of Int64.
    package func advanced(byMilliseconds duration: Int64) -> Timestamp {
        let (sum, overflows) = milliseconds.addingReportingOverflow(duration)
        // Unreached: No token leads before the first millisecond of Int64; only a caller's own times do.
        return Timestamp(milliseconds: overflows ? (duration < 0 ? .min : .max) : sum)
    }

    /// Whole seconds since 1970, rounded down.
    package var wholeSeconds: Int64 { milliseconds.flooredQuotient(by: 1000) }

    /// Milliseconds from `other` to this time, clamped to the range of Int64.
    package func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflows) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        // Unreached: The properties check at times near to those of their tokens, so no difference overflows.
        return overflows ? (other.milliseconds < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero and clamped to the range of Int64.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        // Unreached: Clamps durations of the configuration, which another target reads with limits of its own.
        guard !overflows else { return seconds < 0 ? .min : .max }
        return Timestamp(milliseconds: scaled).advanced(byMilliseconds: attoseconds / 1_000_000_000_000_000)
            .milliseconds
    }
}

extension Int64 {
    /// The quotient, rounded down for negative numbers too.
    package func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        // Unreached: No token of the properties expires before 1970.
        return remainder < 0 ? quotient - 1 : quotient
    }
}
