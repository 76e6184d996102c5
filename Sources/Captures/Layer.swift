internal import TextEncodings

/// What a token can be wrapped in, apart from Base64 and a run of hexadecimal digits, which ``EncodedText`` reads.
///
/// The first four show at a token's first bracket. Others show nowhere, and are tried one after the other on a capture in which
/// no whole token was found as it is.
enum Layer: String, CaseIterable {
    case percent = "percent-encoding"
    case entities = "HTML escapes"
    case backslashes = "backslash escapes"
    case quotedPrintable = "quoted-printable"
    case formatting
    case hexdump
    case byteValues = "byte values"
    case chunks
    case literals = "string literals"
    case shell = "shell escapes"
    case plusSigns = "blanks for plus signs"
    case prefixes = "line prefixes"
    case wraps = "line wraps"

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
        default: return text
        }
    }

    /// The text without the layer. What the layer cannot have written stays as it is.
    func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .percent:
            let decoded = text.replacing("%", HexEscape.read)
            // Whether a plus sign is a space shows in how the others are written (RFC 3986, HTML forms).
            guard !text.contains(0x20), let strict = try? PercentEncoding.decode(text, holdsSpaces: true) else {
                return decoded
            }
            return Array(strict)
        case .entities: return text.replacing("&", EntityEscape.read)
        case .backslashes: return text.replacing("\\", BackslashEscape.read)
        case .quotedPrintable: return text.replacing("=", HexEscape.readQuotedPrintable)
        case .formatting: return Formatting.removed(from: text)
        case .prefixes:
            let (lines, rests) = (LineWraps.lines(of: text), LineWraps.linesWithoutPrefixes(of: text))
            return lines == rests ? Array(text) : Array(rests.joined())
        case .wraps: return Array(LineWraps.lines(of: text).joined())
        case .literals: return SourceCode.joiningLiterals(in: text)
        case .shell: return SourceCode.withoutShellEscapes(text)
        case .plusSigns: return PlusSigns.restored(in: text)
        case .chunks: return text.replacing("\r", ChunkSize.read)[...].replacing("\n", ChunkSize.read)
        case .hexdump: return Hexdump.bytes(of: text)
        case .byteValues: return ByteValues.replaced(in: text)
        }
    }

    /// Where each line of the text begins in the decoded text; `nil` unless the layer joins lines.
    func lineStarts(in text: ArraySlice<UInt8>) -> [Int]? {
        let lines: [ArraySlice<UInt8>]
        switch self {
        case .prefixes: lines = LineWraps.linesWithoutPrefixes(of: text)
        case .wraps: lines = LineWraps.lines(of: text)
        default: return nil
        }
        return lines.reduce(into: [0]) { starts, line in starts.append(starts[starts.count - 1] + line.count) }
    }
}
