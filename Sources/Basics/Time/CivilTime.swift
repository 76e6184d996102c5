/// A date and time of day on the Gregorian calendar, with its offset from UTC.
package struct CivilTime: Equatable, Sendable {
    /// The largest offset from UTC in either direction, in minutes. No larger one is in use.
    package static let largestOffset = 14 * 60

    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int
    package var millisecond = 0
    /// The offset from UTC in minutes; positive east of Greenwich.
    package var offset: Int

    /// The date and time as a timestamp. It is `nil` if the time does not exist or is not accepted: 31 February, 24:00,
    /// a leap second, a year outside 1970 to 9999, or an offset above ``largestOffset``.
    package var timestamp: Timestamp? {
        guard (1970...9999).contains(year), (1...12).contains(month), day >= 1, day <= daysInMonth,
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
            abs(offset) <= Self.largestOffset
        else { return nil }
        let minutes = (daysSince1970 * 24 + hour) * 60 + minute - offset
        return Timestamp(milliseconds: Int64(minutes * 60 + second) * 1000 + Int64(millisecond))
    }

    var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970-01-01. Years are counted from March, which puts the leap day last and makes month lengths
    /// regular.
    private var daysSince1970: Int {
        let years = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let daysFromMarchOfYear0To1970 = 719_468
        return years * 365 + years / 4 - years / 100 + years / 400 + dayOfYear - daysFromMarchOfYear0To1970
    }

    /// The time that a clock with this offset shows. A timestamp before 1970 or after 9999 is replaced by the nearest
    /// one in that range.
    package init(_ timestamp: Timestamp, offset: Int) {
        let inRange = min(max(timestamp.milliseconds, 0), Timestamp.endOfDates.milliseconds - 1)
        let local = min(Int(inRange / 1000) + offset * 60, Int(Timestamp.endOfDates.milliseconds / 1000) - 1)
        let days = Int(Int64(local).flooredQuotient(by: 86_400))
        let secondOfDay = local - days * 86_400
        // This is the inverse of daysSince1970, calculated in eras of 400 years.
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        millisecond = Int(inRange % 1000)
        (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
        self.offset = offset
    }

    /// Creates a time from its parts, which are not checked; ``timestamp`` is `nil` if they do not form a valid time.
    package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, offset: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second, self.offset) = (hour, minute, second, offset)
    }

    /// The date, time and offset, such as `2016-03-17 15:01:31 -0700`.
    ///
    /// - Parameters:
    ///   - separator: The character between year, month and day.
    ///   - zone: The text before the offset.
    package func text(separator: Unicode.Scalar = "-", zone: StaticString = " ") -> String {
        String(unsafeUninitializedCapacity: 24 + zone.utf8CodeUnitCount) { text in
            var writer = DateWriter(text)
            writer.write(self, separator: separator, beforeTime: " ")
            writer.write(zone)
            writer.write(UInt8(ascii: offset < 0 ? "-" : "+"))
            writer.write(abs(offset) / 60, digits: 2)
            writer.write(abs(offset) % 60, digits: 2)
            return writer.count
        }
    }
}

/// Writes the parts of a date into memory that has room for all of them.
private struct DateWriter {
    private let text: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ text: UnsafeMutableBufferPointer<UInt8>) { self.text = text }

    mutating func write(_ byte: UInt8) {
        text[count] = byte
        count += 1
    }

    mutating func write(_ literal: StaticString) {
        for index in 0..<literal.utf8CodeUnitCount { write(literal.utf8Start[index]) }
    }

    mutating func write(_ number: Int, digits: Int) {
        var rest = number
        for place in (count..<(count + digits)).reversed() {
            text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Writes date and time of day to the second.
    mutating func write(_ time: CivilTime, separator: Unicode.Scalar, beforeTime: Unicode.Scalar) {
        write(time.year, digits: 4)
        write(UInt8(ascii: separator))
        write(time.month, digits: 2)
        write(UInt8(ascii: separator))
        write(time.day, digits: 2)
        write(UInt8(ascii: beforeTime))
        write(time.hour, digits: 2)
        write(UInt8(ascii: ":"))
        write(time.minute, digits: 2)
        write(UInt8(ascii: ":"))
        write(time.second, digits: 2)
    }
}

extension Timestamp {
    // Unreached: Writes the fence of a store into a rejection; the properties' stores have none.
    /// The time to the millisecond on a clock with `offset` minutes east of Greenwich: `2016-03-17 15:01:31.250 -0700`.
    package func text(offset: Int) -> String {
        let time = CivilTime(self, offset: offset)
        let milliseconds = String(1000 + time.millisecond).dropFirst()
        let text = time.text()
        return "\(text.dropLast(6)).\(milliseconds)\(text.suffix(6))"
    }

    /// The time in UTC, such as `2016-03-17 22:01:31 +0000`.
    package var utcText: String { CivilTime(self, offset: 0).text() }

    // Unreached: Writes times into the log, which the properties do not have.
    /// The time in UTC to the millisecond (RFC 3339), such as `2016-03-17T22:01:31.000Z`.
    package var internetText: String {
        String(unsafeUninitializedCapacity: 24) { text in
            var writer = DateWriter(text)
            let time = CivilTime(self, offset: 0)
            writer.write(time, separator: "-", beforeTime: "T")
            writer.write(UInt8(ascii: "."))
            writer.write(time.millisecond, digits: 3)
            writer.write(UInt8(ascii: "Z"))
            return writer.count
        }
    }
}
