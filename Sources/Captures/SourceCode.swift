internal import TextEncodings

/// What programs and shells write around the parts of a long text.
enum SourceCode {
    private static let gapLimit = 200

    /// Joins string literals that a program joins, `"…" + "…"`, and lines that end with a backslash.
    static func joiningLiterals(in text: ArraySlice<UInt8>) -> [UInt8] {
        var (joined, rest) = ([UInt8](), text)
        joined.reserveCapacity(text.count)
        while let special = rest.firstIndex(where: { "\"'`\\".utf8.contains($0) }) {
            joined += rest[..<special]
            rest = rest[special...]
            let isEscape = rest.first == UInt8(ascii: "\\")
            guard let joint = isEscape ? lineEndLength(of: rest) : gapLength(of: rest) else {
                joined += rest.prefix(isEscape ? 2 : 1)
                rest = rest.dropFirst(isEscape ? 2 : 1)
                continue
            }
            rest = rest.dropFirst(joint)
        }
        return joined + rest
    }

    /// The length of an escape at the beginning of `text` with the line break behind it; `nil` if there is none.
    private static func lineEndLength(of text: ArraySlice<UInt8>) -> Int? {
        let rest = text.dropFirst()
        return rest.first == 0x0A ? 2 : rest.starts(with: [0x0D, 0x0A]) ? 3 : nil
    }

    /// The length of what is between two literals, with both quotes; `nil` if the quote at the beginning ends none of two.
    private static func gapLength(of text: ArraySlice<UInt8>) -> Int? {
        let gap = text.dropFirst().prefix(gapLimit).prefix { $0.isASCIIWhiteSpace || "+.&_\\,".utf8.contains($0) }
        let joins = gap.contains { "+.&\n".utf8.contains($0) }
        return joins && text[gap.endIndex...].first == text.first ? gap.count + 2 : nil
    }

    /// Takes off what the command lines of Windows escape characters with, and how a Unix shell writes an apostrophe in apostrophes.
    static func withoutShellEscapes(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var text = text.replacing("%") { (Array("%".utf8), $0.begins(with: "%%") ? 2 : 1) }[...].replacing("'") {
            $0.begins(with: #"'\''"#) ? (Array("'".utf8), 4) : (Array("'".utf8), 1)
        }
        for escape: Unicode.Scalar in ["^", "`"] {
            text = text[...].replacing(escape) { rest in
                if let length = lineEndLength(of: rest) { return ([], length) }
                let escaped = rest.dropFirst().prefix(1)
                return (Array(escaped), 1 + escaped.count)
            }
        }
        return text
    }
}

/// A line with the length of a chunk in hexadecimal digits (RFC 9112, 7.1), which a capture of a connection has within the body.
enum ChunkSize {
    private static let longest = 8

    /// Reads such a line at the beginning of `text`, with the line breaks around it.
    static func read(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int) {
        let lineBreak = text.prefix(text.first == 0x0D ? 2 : 1)
        let digits = text[lineBreak.endIndex...].prefix(longest).prefix { Hexadecimal.value(of: $0) != nil }
        let end = text[digits.endIndex...].prefix(lineBreak.count)
        guard lineBreak.last == 0x0A, !digits.isEmpty, end.elementsEqual(lineBreak) else {
            return (Array(text.prefix(1)), 1)
        }
        return ([], end.endIndex - text.startIndex)
    }
}

/// Blanks that a decoder of forms put in place of the plus signs of Base64.
enum PlusSigns {
    static func restored(in text: ArraySlice<UInt8>) -> [UInt8] {
        text.replacing(" ") { rest in
            let next = rest.dropFirst().first ?? UInt8(ascii: "&")
            let before = rest.startIndex > text.startIndex ? text[rest.startIndex - 1] : 0
            let isPlus = isDigit(before) && (isDigit(next) || next == UInt8(ascii: "&"))
            return ([isPlus ? UInt8(ascii: "+") : UInt8(ascii: " ")], 1)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "+/".utf8.contains(byte) }
}
