public import Basics

/// A date as a token writes it: a time, and the offset of the clock that wrote it.
public struct TokenDate: Hashable, Sendable, CustomStringConvertible {
    /// The forms of dates in tokens, in the notation of Java's `SimpleDateFormat`, as Adobe's documents give them.
    public enum Form: String, Sendable {
        /// The form of a media token's `issueTime`: `2016-03-17 15:01:31 -0700`.
        case issueTime = "yyyy-MM-dd HH:mm:ss Z"
        /// The form of `simpleTokenExpires` and `simpleTokenTTL`: `2011/03/19 02:29:34 GMT +0200`.
        case expiry = "yyyy/MM/dd HH:mm:ss 'GMT' Z"
    }

    /// The time. In a token its resolution is a second.
    public let timestamp: Timestamp
    /// The clock's offset in minutes east of Greenwich, from −840 to 840.
    public let offset: Int

    /// Creates the date that a clock with `offset` minutes east of Greenwich shows. An offset of more than fourteen
    /// hours either way is limited to fourteen.
    public init(_ timestamp: Timestamp, offset: Int = 0) {
        self.timestamp = timestamp
        self.offset = min(max(offset, -CivilTime.largestOffset), CivilTime.largestOffset)
    }

    /// Reads a date in exactly the given form: every digit in its place, an offset, nothing before or after. It is
    /// `nil` for any other text, and for a time that the calendar does not have.
    public init?(_ text: String, form: Form = .issueTime) {
        var text = text
        guard let date = text.withUTF8({ Self($0, form: form) }) else { return nil }
        self = date
    }

    init?(_ text: UnsafeBufferPointer<UInt8>, form: Form) {
        guard let time = DateScanner.scan(text, { $0.time(form) }), let timestamp = time.timestamp else { return nil }
        self.init(timestamp, offset: time.offset)
    }

    /// The date in the form of a token's issue time, at its own offset.
    public var description: String { written(as: .issueTime) }

    /// The date in the given form, at its own offset.
    public func written(as form: Form) -> String {
        let time = CivilTime(timestamp, offset: offset)
        switch form {
        case .issueTime: return time.text()
        // Unreached: Writes the date of an AuthN or AuthZ token, which only the issuer of test tokens does.
        case .expiry: return time.text(separator: "/", zone: " GMT ")
        }
    }
}

/// Reads the parts of a date from the front of a text.
struct DateScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The value that `read` makes of `text`; `nil` if `read` does not consume all of it. The scanner must not outlive
    /// the call.
    static func scan<Made>(_ text: UnsafeBufferPointer<UInt8>, _ read: (inout DateScanner) -> Made?) -> Made? {
        var scanner = DateScanner(text)
        guard let made = read(&scanner), scanner.position == text.count else { return nil }
        return made
    }

    @inline(__always)
    mutating func skip(_ literal: StaticString) -> Bool {
        let end = position + literal.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in position..<end where bytes[index] != literal.utf8Start[index - position] { return false }
        position = end
        return true
    }

    @inline(__always)
    mutating func number(digits: Int) -> Int? {
        let end = position + digits
        guard end <= bytes.count else { return nil }
        var number = 0
        for index in position..<end {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        position = end
        return number
    }

    /// Reads a date in one of a token's forms.
    fileprivate mutating func time(_ form: TokenDate.Form) -> CivilTime? {
        guard let (year, month, day) = date(separator: form == .issueTime ? "-" : "/"), skip(" "),
            let (hour, minute) = hourAndMinute(), skip(":"), let second = number(digits: 2),
            skip(form == .issueTime ? " " : " GMT "), let offset = offset(separator: "")
        else { return nil }
        return CivilTime(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, offset: offset)
    }

    mutating func date(separator: StaticString) -> (year: Int, month: Int, day: Int)? {
        guard let year = number(digits: 4), skip(separator), let month = number(digits: 2), skip(separator),
            let day = number(digits: 2)
        else { return nil }
        return (year, month, day)
    }

    mutating func hourAndMinute() -> (hour: Int, minute: Int)? {
        guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2) else { return nil }
        return (hour, minute)
    }

    /// Reads an offset in minutes east of Greenwich: a sign, two digits of hours, and two of minutes below 60.
    mutating func offset(separator: StaticString) -> Int? {
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(digits: 2), skip(separator),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (isNegative ? -1 : 1)
    }
}
