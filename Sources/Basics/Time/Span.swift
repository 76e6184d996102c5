/// A length of time in words, with its two largest units: `10 years 8 months`, `4 min 10 s`. What is left is cut off,
/// not rounded, so that `59 s` never becomes a minute that has not passed.
package struct Span: CustomStringConvertible, Sendable {
    private let months: Int
    /// The milliseconds beyond the whole months.
    private let rest: Int64

    /// The span between two times, in either order, with years and months as the calendar has them in UTC. A month is
    /// whole on the same day and time of a later month, so a year from 29 February is whole on 1 March. A time outside
    /// of the years 1970 to 9999 counts as the nearest within.
    package init(between one: Timestamp, and other: Timestamp) {
        let (begin, end) = (min(one, other).inCalendar, max(one, other).inCalendar)
        let (first, last) = (CivilTime(begin, offset: 0), CivilTime(end, offset: 0))
        let isWhole = (last.day, last.millisecondOfDay) >= (first.day, first.millisecondOfDay)
        months = (last.year - first.year) * 12 + last.month - first.month - (isWhole ? 0 : 1)
        rest = end.milliseconds(since: first.adding(months: months).timestamp ?? begin)
    }

    /// A span of so many milliseconds, whose largest unit is a day.
    package init(milliseconds: Int64) {
        (months, rest) = (0, Int64(clamping: milliseconds.magnitude))
    }

    /// The two largest units; the second is left out if it is zero.
    package var description: String {
        let seconds = rest / 1000
        guard months > 0 || seconds > 0 || rest == 0 else { return "\(rest) ms" }
        let units: [(Int64, String, String)] = [
            (Int64(months / 12), " year", " years"), (Int64(months % 12), " month", " months"),
            (seconds / 86_400, " day", " days"), (seconds / 3600 % 24, " h", " h"), (seconds / 60 % 60, " min", " min"),
            (seconds % 60, " s", " s"),
        ]
        let largest = units.firstIndex { $0.0 > 0 } ?? units.count - 1
        return units[largest...].prefix(2).enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { "\($0.element.0)\($0.element.0 == 1 ? $0.element.1 : $0.element.2)" }.joined(separator: " ")
    }
}

extension Timestamp {
    fileprivate var inCalendar: Timestamp {
        Timestamp(milliseconds: min(max(milliseconds, 0), Self.endOfDates.milliseconds - 1))
    }

    /// What this time, as an expiry, means at `now`: `expires in 4 min 10 s`, or `expired 10 years 8 months ago`.
    package func expiryInWords(at now: Timestamp) -> String {
        let span = Span(between: now, and: self)
        return now > self ? "expired \(span) ago" : "expires in \(span)"
    }

    /// What this time, as an issue time, means at `now`, which is before it: `issued in the future: in 1 h 59 min`.
    package func futureIssueInWords(at now: Timestamp) -> String {
        "issued in the future: in \(Span(between: now, and: self))"
    }
}

extension CivilTime {
    fileprivate var millisecondOfDay: Int { ((hour * 60 + minute) * 60 + second) * 1000 + millisecond }

    /// This day and time in a later month, or the last day of that month if it is shorter.
    fileprivate func adding(months: Int) -> CivilTime {
        var later = self
        let sum = month - 1 + months
        (later.year, later.month) = (year + sum / 12, sum % 12 + 1)
        later.day = min(day, later.daysInMonth)
        return later
    }
}
