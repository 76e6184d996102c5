public import Timestamps

/// The time as of which a token is checked.
package enum CheckTime: Equatable, Sendable {
    case at(Timestamp)
    /// The token's own issue time, which only a media token has.
    case issued

    /// Reads `issued`, or a time in the forms of `Timestamp(reading:asOf:)`; `nil` for any other text.
    package init?(reading text: String, asOf now: Timestamp = .now) {
        if text == "issued" {
            self = .issued
        } else if let time = Timestamp(reading: text, asOf: now) {
            self = .at(time)
        } else {
            return nil
        }
    }
}

extension Timestamp {
    /// Reads a time that a person typed: ISO 8601 (`2016-03-17T22:02:00Z`; UTC if it has no offset), a token's own form
    /// (`2016-03-17 15:02:00 -0700`), seconds since 1970, or milliseconds, which have 13 digits; `now`, or a whole number of
    /// seconds, minutes, hours or days before or after that (`-90s`, `-5m`, `+2h`, `-3d`). It is `nil` for any other text.
    public init?(reading text: String, asOf now: Timestamp = .now) {
        if text == "now" {
            self = now
        } else if let date = TokenDate(text) {
            self = date.timestamp
        } else if let time = Self.readISO8601(text) ?? Self.readISO8601(text + "Z") ?? Self.readNumber(text)
            ?? Self.readDistance(text, from: now)
        {
            self = time
        } else {
            return nil
        }
    }

    private static func readNumber(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 13, let number = digits(text[...]) else { return nil }
        return inDates(text.utf8.count == 13 ? number : number * 1000)
    }

    private static func readDistance(_ text: String, from now: Timestamp) -> Timestamp? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let sign = text.first, sign == "-" || sign == "+", let unit = text.last.flatMap({ units[$0] }),
            text.utf8.count <= 12, let number = digits(text.dropFirst().dropLast())
        else { return nil }
        return inDates(now.milliseconds + (sign == "-" ? -1 : 1) * number * unit * 1000)
    }

    private static func digits(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    private static func inDates(_ milliseconds: Int64) -> Timestamp? {
        (0..<endOfDates.milliseconds).contains(milliseconds) ? Timestamp(milliseconds: milliseconds) : nil
    }

    /// Reads ISO 8601's extended form in the profile of RFC 3339. Seconds may be left out; a fraction must have three
    /// digits.
    private static func readISO8601(_ text: String) -> Timestamp? {
        var text = text
        return text.withUTF8 { DateScanner.scan($0) { $0.time() } }?.timestamp
    }
}

extension DateScanner {
    fileprivate mutating func time() -> CivilTime? {
        guard let (year, month, day) = date(separator: "-"), skip("T") || skip(" "),
            let (hour, minute) = hourAndMinute()
        else { return nil }
        var time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: 0, offset: 0)
        if skip(":") {
            guard let second = number(digits: 2) else { return nil }
            time.second = second
            if skip(".") {
                guard let millisecond = number(digits: 3) else { return nil }
                time.millisecond = millisecond
            }
        }
        if !skip("Z") {
            guard let offset = offset(separator: ":") else { return nil }
            time.offset = offset
        }
        return time
    }
}
