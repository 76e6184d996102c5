internal import Basics

/// Takes one kind of encoding, escaping or damage off all of a text.
struct Decoder: Sendable {
    let name: String
    /// The damage that it undoes, in words; `nil` if it only unwraps. A gate repairs nothing, so it refuses a token
    /// that was sent like this.
    private let repair: String?
    /// Whether Base64 may have it between its digits, for a gate too.
    private let isPartOfBase64: Bool
    private let rewrite: @Sendable (inout Rewriter) -> Void

    private init(
        _ name: String, undoing repair: String? = nil, isPartOfBase64: Bool = false,
        _ rewrite: @escaping @Sendable (inout Rewriter) -> Void
    ) {
        (self.name, self.repair, self.isPartOfBase64, self.rewrite) = (name, repair, isPartOfBase64, rewrite)
    }

    /// The damage that it undoes, in words; `nil` if it undoes none.
    ///
    /// - Parameter way: how its result was decoded further.
    func repair(before way: [String]) -> String? {
        isPartOfBase64 && way.contains(EncodedText.base64Name) ? nil : repair
    }

    /// The decoded text; `nil` if there was nothing to decode.
    func decode(_ text: ArraySlice<UInt8>, _ lines: Lines) -> (bytes: [UInt8], lines: Lines)? {
        var rewriter = Rewriter(text, lines)
        rewrite(&rewriter)
        return rewriter.finish()
    }

    /// The names of those whose encoders leave no bracket as it is: with one of their escapes, a token in clear text
    /// was damaged.
    static let ofBrackets = ["percent-encoding", "HTML escapes", "quoted-printable"]

    /// All decoders, the usual ones first.
    static let all = [
        Decoder("percent-encoding") { text in
            while let escape = text.rest.position(of: UInt8(ascii: "%")) {
                text.copy(to: escape)
                // The other escapes of a value show whether its plus signs stand for spaces (RFC 3986, HTML forms).
                let value = text.rest.prefix { !$0.isASCIIWhiteSpace && !"\"&<>\\".utf8.contains($0) }
                let isClear =
                    value.firstRange(of: Array("%3C".utf8)) != nil || value.firstRange(of: Array("%3c".utf8)) != nil
                if let decoded = try? PercentEncoding.decode(value, holdsSpaces: isClear) {
                    text.replace(value.count, with: decoded)
                    continue
                }
                while let escape = text.rest.position(of: UInt8(ascii: "%")), escape < value.endIndex {
                    text.copy(to: escape)
                    let (character, length) = HexEscape.read(text.rest)
                    text.replace(length, with: character)
                }
            }
        },
        Decoder("backslash escapes") { $0.replace("\\", BackslashEscape.read) },
        Decoder("HTML escapes") { $0.replace("&", EntityEscape.read) },
        Decoder("quoted-printable") { $0.replace("=", HexEscape.readQuotedPrintable) },
        // As HAProxy writes what it captures of headers.
        Decoder("number sign escapes") { $0.replace("#", HexEscape.read) },
        Decoder("doubled quotes") { text in
            text.replace("\"'") { rest in ([rest[rest.startIndex]], rest.dropFirst().first == rest.first ? 2 : 1) }
        },
        Decoder("apostrophes of a shell") { text in
            text.replace("'") { (Array("'".utf8), $0.begins(with: #"'\''"#) ? 4 : 1) }
        },
        Decoder("formatting", undoing: "colours, quotes or dashes of a program that shows text", Formatting.remove),
        Decoder("tags", undoing: "tags of a page or a document within it", Formatting.removeTags),
        Decoder("string literals", SourceCode.joinLiterals),
        Decoder("blanks for plus signs", undoing: "blanks read as '+'") { PlusSigns.restore(in: &$0, as: "+") },
        Decoder("line wraps", undoing: "line breaks within it", isPartOfBase64: true) {
            $0.replace("\r\n") { ([], $0.begins(with: "\r\n") ? 2 : 1) }
        },
        Decoder("line prefixes", undoing: "line breaks within it, and what is before each line", LineFrames.remove),
        Decoder("interleaved lines", undoing: "lines of other writers within it", LineFrames.removeOthers),
        Decoder("indented line wraps", undoing: "line breaks within it, and the blanks around them") { text in
            LineFrames.join(&text, with: "")
        },
        Decoder("line wraps at blanks", undoing: "line breaks in place of blanks") { LineFrames.join(&$0, with: " ") },
        Decoder("blanks between digits", undoing: "blanks between digits of Base64") {
            PlusSigns.restore(in: &$0, as: "")
        },
        Decoder("lines that psql continues") { text in
            text.replace(" +") { rest in
                let blanks = rest.prefix(while: \.isBlank)
                let sign = rest[blanks.endIndex...]
                let lineBreak = sign.dropFirst().prefix { $0 == 0x0D || $0 == 0x0A }
                guard sign.first == UInt8(ascii: "+"), !lineBreak.isEmpty,
                    sign[lineBreak.endIndex...].first?.isBlank == true
                else { return blanks.isEmpty ? (Array(rest.prefix(1)), 1) : (Array(blanks), blanks.count) }
                return ([], sign[lineBreak.endIndex...].drop(while: \.isBlank).startIndex - rest.startIndex)
            }
        },
        Decoder("chunks") { $0.replace("\r\n", ChunkSize.read) },
        Decoder("link protection", LinkProtection.remove),
    ]
}
