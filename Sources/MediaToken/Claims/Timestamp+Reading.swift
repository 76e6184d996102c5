public import Timestamps

extension Timestamp {
    /// Reads a time that a person typed: ISO 8601 with an offset (`2016-03-17T22:02:00Z`), a token's own form
    /// (`2016-03-17 15:02:00 -0700`), seconds since 1970, or `now`. It is `nil` for any other text.
    public init?(reading text: String) {
        if text == "now" {
            self = .now
        } else if let date = TokenDate(text) {
            self = date.timestamp
        } else if let moment = Self.readISO8601(text) {
            self = moment
        } else if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text),
            seconds < Self.endOfDates.milliseconds / 1000
        {
            self.init(milliseconds: seconds * 1000)
        } else {
            return nil
        }
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
