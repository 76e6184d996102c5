internal import TextEncodings

/// The `<` before a token's marker, as it is or escaped.
struct OpeningBracket {
    let start: Int
    /// What the bracket is escaped by; `nil` if it is clear.
    let escape: Escape?

    /// - Parameters:
    ///   - marker: the position of `signatureInfo`.
    ///   - end: the position behind it.
    init?(before marker: Int, until end: Int, in text: ArraySlice<UInt8>) {
        guard let (start, escape) = Self.find(in: text[..<marker].suffix(48)) else { return nil }
        // Where the bracket behind the marker is a reference, references were written last.
        let isReference = escape != .percent && end < text.endIndex && text[end] == UInt8(ascii: "&")
        (self.start, self.escape) = (start, isReference ? .entities : escape)
    }

    private static func find(in before: ArraySlice<UInt8>) -> (Int, Escape?)? {
        guard let last = before.last else { return nil }
        if last == UInt8(ascii: "<") { return (before.endIndex - 1, nil) }
        if last == UInt8(ascii: ";"), let ampersand = before.lastIndex(of: UInt8(ascii: "&")) {
            return (ampersand, .entities)
        }
        if let escape = percent(of: "26", in: before) { return (escape, .percent) }
        if last == UInt8(ascii: ";") {
            return before.lastIndex(of: UInt8(ascii: "\\")).map { (firstBackslash(of: before[...$0]), .backslashes) }
        }
        let isHexadecimal = before.suffix(2).map(\.asciiLowercased) == Array("3c".utf8)
        guard isHexadecimal || before.suffix(3).elementsEqual("074".utf8) else { return nil }
        var rest = before.dropLast(isHexadecimal ? 2 : 3)
        for prefix in ["u00", "x"] where isHexadecimal && rest.suffix(prefix.utf8.count).elementsEqual(prefix.utf8) {
            rest = rest.dropLast(prefix.utf8.count)
        }
        while rest.suffix(2).elementsEqual("25".utf8) { rest = rest.dropLast(2) }
        switch rest.last {
        case UInt8(ascii: "%"): return (rest.endIndex - 1, .percent)
        case UInt8(ascii: "="): return (rest.endIndex - 1, .quotedPrintable)
        case UInt8(ascii: "\\"): return (firstBackslash(of: rest), .backslashes)
        default: return percent(of: "5C", in: rest).map { ($0, .percent) }
        }
    }

    /// The position of the first of the backslashes at the end of `text`.
    private static func firstBackslash(of text: ArraySlice<UInt8>) -> Int {
        text.lastIndex { $0 != UInt8(ascii: "\\") }.map { $0 + 1 } ?? text.startIndex
    }

    /// The position of the last percent escape of a byte in `text`, which may itself be escaped; `nil` if there is none.
    private static func percent(of byte: String, in text: ArraySlice<UInt8>) -> Int? {
        guard let percent = text.lastIndex(of: UInt8(ascii: "%")) else { return nil }
        let before = text[..<percent].suffix(12)
        // A reference has an escape for its ampersand and one for its semicolon; the first of them begins the token.
        if let first = Self.percent(of: byte, in: before) { return first }
        var digits = text[percent...].dropFirst()
        while digits.begins(with: "25") { digits = digits.dropFirst(2) }
        return digits.prefix(2).map(\.asciiLowercased) == Array(byte.lowercased().utf8) ? percent : nil
    }
}
