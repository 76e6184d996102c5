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

    /// The part of `text`, from its beginning, that the layer may cover. It may hold more than one token.
    func region(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
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
