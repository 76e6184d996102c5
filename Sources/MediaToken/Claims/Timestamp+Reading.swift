public import Basics

/// The time as of which a token is checked.
package enum CheckTime: Equatable, Sendable {
    case at(Timestamp)
    /// The token's own issue time, which only a media token has.
    case issued
    /// The time of the line of a log, or of the call, in which a capture has the token.
    case line

    /// Reads `issued`, `line`, or a time in the forms of `Timestamp(reading:asOf:)`; `nil` for any other text.
    package init?(reading text: String, asOf now: Timestamp = .now) {
        if text == "issued" {
            self = .issued
        } else if text == "line" {
            self = .line
        } else if let time = Timestamp(reading: text, asOf: now) {
            self = .at(time)
        } else {
            return nil
        }
    }
}

extension Timestamp {
    /// Reads a time as people have it before them; `nil` for any other text. A time without an offset is in UTC. These
    /// are read:
    ///
    /// - ISO 8601, also with a blank, without seconds or with a fraction: `2016-03-17T22:02:00Z`, `2016-03-17 15:02:00
    ///   -0700`, and with a weekday before it, as `journalctl` writes it
    /// - the date of an HTTP header: `Thu, 17 Mar 2016 22:02:00 GMT`
    /// - nginx's `$time_local`: `17/Mar/2016:22:02:00 +0000`
    /// - the date of an AuthN or AuthZ token: `2016/03/18 00:02:00 GMT +0200`
    /// - seconds since 1970, also with a fraction, such as nginx's `$msec`, or after `@`; milliseconds, which have 13
    ///   digits
    /// - `now`, or a whole number of seconds, minutes, hours or days before or after that: `-90s`, `-5m`, `+2h`, `-3d`
    public init?(reading text: String, asOf now: Timestamp = .now) {
        // Nobody writes a longer one, and comparing a text of many accents as a `String` takes seconds.
        guard text.utf8.count <= 100 else { return nil }
        if text == "now" {
            self = now
        } else if let time = Self.readDate(text) ?? Self.readNumber(text) ?? Self.readDistance(text, from: now) {
            self = time
        } else {
            return nil
        }
    }

    private static func readDate(_ text: String) -> Timestamp? {
        var text = text
        return text.withUTF8 { DateScanner.scan($0) { $0.time() } }
    }

    private static func readNumber(_ text: String) -> Timestamp? {
        let text = text.utf8.first == UInt8(ascii: "@") ? text.dropFirst() : text[...]
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0].utf8.count <= 13, let number = digits(parts[0]) else { return nil }
        guard parts.count == 2 else { return inDates(parts[0].utf8.count == 13 ? number : number * 1000) }
        guard digits(parts[1]) != nil, let fraction = digits((parts[1] + "00").prefix(3)) else { return nil }
        return inDates(number * 1000 + fraction)
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
}

extension DateScanner {
    /// 1970 began with a Thursday.
    private static let weekdays: [StaticString] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date in one of the forms of `Timestamp(reading:asOf:)`.
    fileprivate mutating func time() -> Timestamp? {
        let weekday = word(of: Self.weekdays)
        guard weekday == nil || skip(", ") || skip(" "), let (year, month, day) = date(),
            let (hour, minute) = hourAndMinute()
        else { return nil }
        var time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: 0, offset: 0)
        if skip(":") {
            guard let second = number(digits: 2) else { return nil }
            time.second = second
            if skip(".") {
                guard let millisecond = fraction() else { return nil }
                time.millisecond = millisecond
            }
        }
        guard let offset = zone() else { return nil }
        time.offset = offset
        guard let timestamp = time.timestamp else { return nil }
        let localDay = (timestamp.milliseconds + Int64(offset) * 60_000).flooredQuotient(by: 86_400_000)
        return weekday.map { Int64($0) == localDay % 7 } ?? true ? timestamp : nil
    }

    /// Reads a date with what separates it from the time of day.
    private mutating func date() -> (year: Int, month: Int, day: Int)? {
        for separator in ["-", "/"] as [StaticString] {
            var attempt = self
            guard let date = attempt.date(separator: separator), attempt.skip("T") || attempt.skip(" ") else {
                continue
            }
            self = attempt
            return date
        }
        guard let day = number(digits: 2) ?? number(digits: 1) else { return nil }
        let isLog = skip("/")
        guard isLog || skip(" "), let month = word(of: Self.months), skip(isLog ? "/" : " "),
            let year = number(digits: 4), skip(isLog ? ":" : " ")
        else { return nil }
        return (year, month + 1, day)
    }

    /// Reads the digits of a fraction, down to the millisecond.
    private mutating func fraction() -> Int? {
        var (milliseconds, count) = (0, 0)
        while let digit = number(digits: 1) {
            if count < 3 { milliseconds = milliseconds * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 3)..<3 { milliseconds *= 10 }
        return milliseconds
    }

    /// Reads an offset in minutes, after `UTC`, `GMT` or nothing; 0 if there is none.
    private mutating func zone() -> Int? {
        if skip("Z") { return 0 }
        _ = skip(" UTC") || skip(" GMT")
        let hasBlank = skip(" ")
        for separator in [":", ""] as [StaticString] {
            var attempt = self
            guard let offset = attempt.offset(separator: separator) else { continue }
            self = attempt
            return offset
        }
        return hasBlank ? nil : 0
    }

    private mutating func word(of words: [StaticString]) -> Int? {
        for (index, word) in words.enumerated() where skip(word) { return index }
        return nil
    }
}
