internal import TextEncodings

/// What a token's first bracket shows that the token is escaped by.
enum Escape: String, CaseIterable {
    case percent = "percent-encoding"
    case entities = "HTML escapes"
    case backslashes = "backslash escapes"
    case quotedPrintable = "quoted-printable"

    /// The length of a text in which a token's markers are looked for.
    private static let longest = 1 << 20

    /// The part of `text`, from the first bracket of a token, that holds this token and no other one.
    func region(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        // A token has its marker twice; the third one is that of a next token.
        let markers = ClearText.markers(in: text.prefix(Self.longest))
        let text = markers.count == 3 ? text[..<markers[2]] : text
        switch self {
        case .percent: return text.prefix { !$0.isASCIIWhiteSpace && !"\"&<>\\".utf8.contains($0) }
        case .entities: return text.prefix { $0 != UInt8(ascii: "<") }
        case .backslashes:
            var rest = text
            while let byte = rest.first, byte != UInt8(ascii: "\""), byte != 0x0A {
                rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
            }
            return text[..<rest.startIndex]
        case .quotedPrintable: return text
        }
    }

    /// The text without the escapes. What is none stays as it is.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .percent:
            // Whether a plus sign is a space shows in how the others are written (RFC 3986, HTML forms).
            guard !text.contains(0x20), let strict = try? PercentEncoding.decode(text, holdsSpaces: true) else {
                return text.replacing("%", HexEscape.read)
            }
            return Array(strict)
        case .entities: return text.replacing("&", EntityEscape.read)
        case .backslashes: return text.replacing("\\", BackslashEscape.read)
        case .quotedPrintable: return text.replacing("=", HexEscape.readQuotedPrintable)
        }
    }
}
