internal import TextEncodings

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

    /// Words in the names of other times, such as an expiry.
    private static let otherTimes = ["expire", "issue", "modified", "until", "valid", "notbefore", "notafter"].map {
        Array($0.utf8)
    }
    /// How far behind the beginning of a line its time may stand.
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
            let name = head[..<begin].map(\.asciiLowercased)[...]
            guard !Self.otherTimes.contains(where: { name.firstRange(of: $0) != nil }) else { return nil }
            rest = rest.dropFirst(2)
            if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst(3) }
            var time = String(decoding: head[begin..<rest.startIndex], as: UTF8.self)
            let fraction: ArraySlice<UInt8> = rest.dropFirst().prefix(while: \.isDigit)
            if let point = rest.first, ".,".utf8.contains(point), !fraction.isEmpty {
                time += "." + String(decoding: fraction, as: UTF8.self)
                rest = head[fraction.endIndex...]
            }
            let zone = Self.zone(rest)
            (text, hasZone) = (time + zone, !zone.isEmpty)
            return
        }
        return nil
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
        guard let sign = offset.first, "+-".utf8.contains(sign), count == 4 || count == 2 else { return "" }
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
            while line < findings[index].line, let end = text[begin...].position(of: 0x0A) {
                (begin, line) = (end + 1, line + 1)
            }
            var (before, tried) = (begin, 0)
            findings[index].time = LineTime(beginning: text[before...])
            while findings[index].time == nil, before > text.startIndex, tried < recordLimit {
                before = text[..<(before - 1)].lastIndex(of: 0x0A).map { $0 + 1 } ?? text.startIndex
                findings[index].time = LineTime(beginning: text[before...])
                tried += 1
            }
        }
    }
}
