internal import TextEncodings

/// What a token can be wrapped in, apart from Base64 and hexadecimal digits, which ``EncodedText`` reads.
enum Layer: String, CaseIterable {
    case percent = "percent-encoding"
    case entities = "HTML escapes"
    case backslashes = "backslash escapes"
    case quotedPrintable = "quoted-printable"
    case hexdump
    case wraps = "line wraps"
    case hexadecimal = "hex"

    /// A token that is escaped character by character has up to five times its largest size.
    private static let regionLimit = 5 * 65_536

    /// The part of `text`, from its beginning, that the layer may cover. It may hold more than one token.
    func region(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let text = text.prefix(Self.regionLimit)
        switch self {
        case .percent: return text.prefix { !$0.isASCIIWhiteSpace && !"\"&<>\\".utf8.contains($0) }
        case .entities: return text.prefix { $0 != UInt8(ascii: "<") }
        case .backslashes:
            var rest = text
            while let byte = rest.first, byte != UInt8(ascii: "\""), byte != 0x0A {
                rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
            }
            return text[..<rest.startIndex]
        case .quotedPrintable, .hexdump, .wraps, .hexadecimal: return text
        }
    }

    /// The text without the layer. What the layer cannot have written stays as it is.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .percent:
            let decoded = text.replacing("%", HexEscape.read)
            // Whether a plus sign is a space shows in how the others are written (RFC 3986, HTML forms).
            guard let strict = try? PercentEncoding.decode(text, holdsSpaces: true) else { return decoded }
            return Array(strict)
        case .entities: return text.replacing("&", EntityEscape.read)
        case .backslashes: return text.replacing("\\", BackslashEscape.read)
        case .quotedPrintable: return text.replacing("=", HexEscape.readQuotedPrintable)
        case .hexdump: return Hexdump.bytes(of: text)
        case .wraps: return LineWraps.removed(from: text)
        case .hexadecimal: return HexDigits.bytes(of: text)
        }
    }
}

/// The `<` before a token's marker, as it is or escaped.
struct OpeningBracket {
    let start: Int
    /// What the bracket is escaped by; `nil` if it is clear.
    let layer: Layer?

    /// - Parameters:
    ///   - marker: the position of `signatureInfo`.
    ///   - end: the position behind it.
    init?(before marker: Int, until end: Int, in text: ArraySlice<UInt8>) {
        guard let (start, layer) = Self.find(in: text[..<marker].suffix(48)) else { return nil }
        // Where the bracket behind the marker is a reference, references were written last.
        let isReference = layer != .percent && end < text.endIndex && text[end] == UInt8(ascii: "&")
        (self.start, self.layer) = (start, isReference ? .entities : layer)
    }

    private static func find(in before: ArraySlice<UInt8>) -> (Int, Layer?)? {
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

/// The line breaks that a terminal, a mail or an editor put into a text, with what they begin a line with.
enum LineWraps {
    static func removed(from text: ArraySlice<UInt8>) -> [UInt8] {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().reduce(into: []) { joined, line in
            var rest = line.element.last == 0x0D ? line.element.dropLast() : line.element
            if line.offset > 0 { while rest.begins(with: "> ") { rest = rest.dropFirst(2) } }
            joined += rest
        }
    }
}

/// A dump as `xxd`, `hexdump -C` or `od -tx1` prints it: on each line an offset, bytes as hexadecimal digits, and perhaps their characters.
enum Hexdump {
    /// The bytes of all rows whose offsets continue each other; the text itself if there are no two of them.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, rows) = ([UInt8](), 0)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let row = Row(line), rows == 0 || row.offsets.contains(bytes.count) else { continue }
            bytes += row.bytes
            rows += 1
        }
        return rows < 2 ? Array(text) : bytes
    }

    private struct Row {
        /// The row's offset, if its digits are hexadecimal, and if they are octal.
        let offsets: [Int]
        let bytes: [UInt8]

        init?(_ line: ArraySlice<UInt8>) {
            var rest = line.drop(while: \.isBlank)
            let offset = rest.prefix { Hexadecimal.value(of: $0) != nil }
            guard (4...16).contains(offset.count) else { return nil }
            let digits = String(decoding: offset, as: UTF8.self)
            offsets = [16, 8].compactMap { Int(digits, radix: $0) }
            rest = rest[offset.endIndex...]
            if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst() }
            var bytes: [UInt8] = []
            while bytes.count < 32 {
                let blanks = rest.prefix(while: \.isBlank)
                let group = rest[blanks.endIndex...].prefix { Hexadecimal.value(of: $0) != nil }
                // The columns of bytes end at two blanks, of which hexdump has as many in the middle of a row too.
                let isMiddle = bytes.count == 8 && blanks.count == 2
                guard !blanks.isEmpty, blanks.count == 1 || bytes.isEmpty || isMiddle, !group.isEmpty,
                    group.count.isMultiple(of: 2), group.count <= 8
                else { break }
                bytes += HexDigits.bytes(of: group)
                rest = rest[group.endIndex...]
            }
            guard !bytes.isEmpty else { return nil }
            self.bytes = bytes
        }
    }
}

/// Hexadecimal digits of bytes, with or without something between the bytes: `3c73`, `3c 73`, `3c:73`, `\x3c\x73`.
enum HexDigits {
    /// The bytes; the text itself if it is anything else.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, high) = ([UInt8](), UInt8?.none)
        for byte in text {
            if let value = Hexadecimal.value(of: byte) {
                if let begun = high { bytes.append(begun << 4 | value) }
                high = high == nil ? value : nil
            } else {
                guard high == nil || high == 0 && byte == UInt8(ascii: "x"), " \t\r\n:,-\\x\"'".utf8.contains(byte)
                else {
                    return Array(text)
                }
                high = nil
            }
        }
        return bytes
    }
}
