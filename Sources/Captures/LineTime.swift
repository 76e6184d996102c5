internal import Basics

/// The time that a line of a log begins with.
package struct LineTime: Sendable, Equatable {
    /// The time as the line has it, but for a decimal comma.
    package let text: String
    /// Whether it says how far it is from UTC.
    package let hasZone: Bool

    /// A time out of a field of a document.
    init(field text: String) {
        self.text = text
        // A number counts from 1970 in UTC.
        hasZone = text.firstRange(of: ":").map { text[$0.lowerBound...].contains { "+-ZGU".contains($0) } } ?? true
    }

    /// The names of fields that have the line's own time. Any other name has another time, such as an expiry.
    private static let names = [
        "date", "time", "timestamp", "@timestamp", "datetime", "ts", "t", "at", "info", "notice", "warn", "warning",
        "error", "debug", "trace", "fatal",
    ]
    /// Words that show that the time after them is another one.
    private static let otherTimes = ["expire", "issue", "modified", "until", "valid"].map { Array($0.utf8) }
    /// Words after a time of day that show a zone other than UTC, or a clock of twelve hours.
    private static let otherClocks = [
        "AM", "PM", "PST", "PDT", "MST", "MDT", "CST", "CDT", "EST", "EDT", "CET", "CEST", "BST", "IST", "JST",
    ]
    /// The number of bytes at the beginning of a line in which its time may stand.
    private static let head = 160
    /// The number of lines before a token that may belong to the same record.
    private static let recordLimit = 20

    /// The first date with a time of day; `nil` if the line begins without one.
    init?(beginning line: ArraySlice<UInt8>) {
        let head = line.prefix(Self.head).prefix { $0 != 0x0A }
        var rest = head
        while let colon = rest.position(of: UInt8(ascii: ":")) {
            rest = head[(colon + 1)...]
            let hour = head[..<colon].suffix(2)
            guard hour.count == 2, hour.allSatisfy(\.isDigit), rest.prefix(2).allSatisfy(\.isDigit),
                let begin = Self.startOfDate(in: head[..<hour.startIndex])
            else { continue }
            guard Self.isOfLine(head[..<begin]) else { return nil }
            rest = rest.dropFirst(2)
            if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst(3) }
            var time = String(decoding: head[begin..<rest.startIndex], as: UTF8.self)
            let fraction: ArraySlice<UInt8> = rest.dropFirst().prefix(while: \.isDigit)
            if let point = rest.first, ".,".utf8.contains(point), !fraction.isEmpty {
                time += "." + String(decoding: fraction, as: UTF8.self)
                rest = head[fraction.endIndex...]
            }
            let word = rest.drop(while: \.isBlank).prefix(while: \.isLetterOrDigit)
            guard !Self.otherClocks.contains(where: word.isSame) else { return nil }
            let zone = Self.zone(rest)
            (text, hasZone) = (time + zone, !zone.isEmpty)
            return
        }
        return nil
    }

    /// Whether what stands before a date lets it be the time of the line.
    private static func isOfLine(_ before: ArraySlice<UInt8>) -> Bool {
        let lowered = before.map(\.asciiLowercased)[...]
        guard !otherTimes.contains(where: { lowered.firstRange(of: $0) != nil }) else { return false }
        let quoted = lowered.reversed().drop { "\" [(".utf8.contains($0) }
        guard let sign = quoted.first, ":=".utf8.contains(sign) else { return true }
        let named = quoted.dropFirst().drop { "\" ".utf8.contains($0) }
        let name = named.prefix { $0.isLetterOrDigit || "@-_.".utf8.contains($0) }.reversed()
        return name.isEmpty || names.contains { $0.utf8.elementsEqual(name) }
    }

    /// Where the date begins that a text ends with: `2017-03-15T`, `2017/03/15 `, `15/Mar/2017:`, `15 Mar 2017 `.
    private static func startOfDate(in text: ArraySlice<UInt8>) -> Int? {
        guard let separator = text.last, "T: ".utf8.contains(separator) else { return nil }
        let words = text.dropLast().split(omittingEmptySubsequences: false) {
            !$0.isLetterOrDigit && !"/-".utf8.contains($0)
        }
        guard let last = words.last else { return nil }
        if (10...11).contains(last.count), last.count(where: { "/-".utf8.contains($0) }) == 2 { return last.startIndex }
        let date = words.suffix(3)
        guard separator == UInt8(ascii: " "), date.map(\.count).suffix(2) == [3, 4], date.count == 3,
            let day = date.first, (1...2).contains(day.count), day.allSatisfy(\.isDigit)
        else { return nil }
        return day.startIndex
    }

    /// The zone that a text begins with, as it stands; empty if there is none.
    private static func zone(_ text: ArraySlice<UInt8>) -> String {
        if text.first == UInt8(ascii: "Z") { return "Z" }
        let name = text.drop { $0 == UInt8(ascii: " ") }.prefix(3)
        if text.first == UInt8(ascii: " "), name.elementsEqual("GMT".utf8) || name.elementsEqual("UTC".utf8) {
            return " GMT"
        }
        let offset = text.drop { $0 == UInt8(ascii: " ") }
        let digits = offset.dropFirst().prefix { $0.isDigit || $0 == UInt8(ascii: ":") }
        let count = digits.count(where: \.isDigit)
        // Offsets are whole quarters of an hour, and no larger than 14 hours.
        let number = digits.filter(\.isDigit).reduce(0) { $0 * 10 + Int($1 - 0x30) } * (count == 2 ? 100 : 1)
        guard let sign = offset.first, "+-".utf8.contains(sign), count == 4 || count == 2, number <= 1400,
            (number % 100).isMultiple(of: 15), number % 100 < 60
        else { return "" }
        return String(decoding: text[..<digits.endIndex], as: UTF8.self) + (count == 2 ? "00" : "")
    }

    /// Gives each finding the time of its line or, if that has none, of the nearest one before it.
    ///
    /// - Parameters:
    ///   - findings: in the order of their lines.
    ///   - place: a place in the text, which is on `line`.
    static func date(_ findings: inout [Finding], in text: ArraySlice<UInt8>, from place: Int, on line: Int) {
        var (begin, line) = (text[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? text.startIndex, line)
        for index in findings.indices where findings[index].time == nil {
            if index > 0, findings[index - 1].line == findings[index].line {
                findings[index].time = findings[index - 1].time
                continue
            }
            while line < findings[index].line, let end = text[begin...].position(of: 0x0A) {
                (begin, line) = (end + 1, line + 1)
            }
            var (before, tried) = (begin, 0)
            findings[index].time = LineTime(beginning: text[before...])
            // A record may have several lines. One that begins with a word is a record of its own.
            guard findings[index].time == nil, continuesRecord(text[begin...]) else { continue }
            while findings[index].time == nil, before > text.startIndex, tried < recordLimit {
                before = text[..<(before - 1)].lastIndex(of: 0x0A).map { $0 + 1 } ?? text.startIndex
                findings[index].time = LineTime(beginning: text[before...])
                tried += 1
            }
        }
    }

    private static let shortestToken = 60

    /// Whether a line begins with a blank, a bracket, or a token in digits.
    private static func continuesRecord(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first else { return false }
        let digits = line.prefix(shortestToken).prefix { $0.isLetterOrDigit || "+/-_%".utf8.contains($0) }
        return first.isBlank || "<{\"'".utf8.contains(first) || digits.count == shortestToken
    }
}
