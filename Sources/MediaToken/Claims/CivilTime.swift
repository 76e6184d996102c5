/// A date and time of day on the Gregorian calendar, with its offset from UTC.
struct CivilTime: Equatable, Sendable {
    /// Minutes, east or west; the farthest in use.
    static let largestOffset = 14 * 60

    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var millisecond = 0
    /// Minutes east of Greenwich.
    var offset: Int

    /// `nil` where there is no such time: 31 February, 24:00, a leap second, a year outside of 1970 to 9999, an offset
    /// beyond the largest.
    var timestamp: Timestamp? {
        guard (1970...9999).contains(year), (1...12).contains(month), day >= 1, day <= daysInMonth,
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
            abs(offset) <= Self.largestOffset
        else { return nil }
        let minutes = (daysSince1970 * 24 + hour) * 60 + minute - offset
        return Timestamp(milliseconds: Int64(minutes * 60 + second) * 1000 + Int64(millisecond))
    }

    private var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts years from March, which puts the leap day last and gives the months a regular length.
    private var daysSince1970: Int {
        let years = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let daysFromMarchOfYear0To1970 = 719_468
        return years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - daysFromMarchOfYear0To1970
    }

    /// The time that a clock with that offset shows; what is before 1970 or after 9999 is shown as the nearest moment within.
    init(_ timestamp: Timestamp, offset: Int) {
        let inRange = min(max(timestamp.milliseconds, 0), Timestamp.endOfDates.milliseconds - 1)
        let local = Int(inRange / 1000) + offset * 60
        let days = Int(Int64(local).flooredQuotient(by: 86_400))
        let secondOfDay = local - days * 86_400
        // The inverse of daysSince1970, by eras of 400 years.
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        self.offset = offset
    }

    init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, offset: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.offset) = (hour, minute, second, offset)
    }
}
