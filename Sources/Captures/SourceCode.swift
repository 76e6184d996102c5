internal import Basics

/// What programs and shells write around the parts of a long text.
enum SourceCode {
    private static let gapLimit = 200

    /// Joins string literals that a program joins, `"…" + "…"`, and lines that end with a backslash.
    static func joinLiterals(in text: inout Rewriter) {
        text.replace("\"'`\\") { rest in
            let isEscape = rest.first == UInt8(ascii: "\\")
            if let joint = isEscape ? lineEndLength(of: rest) : gapLength(of: rest) { return ([], joint) }
            let kept = rest.prefix(isEscape ? 2 : 1)
            return (Array(kept), kept.count)
        }
    }

    /// The length of an escape at the beginning of `text` with the line break after it; `nil` if there is none.
    private static func lineEndLength(of text: ArraySlice<UInt8>) -> Int? {
        let rest = text.dropFirst()
        return rest.first == 0x0A ? 2 : rest.starts(with: [0x0D, 0x0A]) ? 3 : nil
    }

    /// The length of what is between two literals, with both quotes; `nil` if the quote at the beginning ends none of
    /// two.
    private static func gapLength(of text: ArraySlice<UInt8>) -> Int? {
        let gap = text.dropFirst().prefix(gapLimit).prefix { $0.isASCIIWhiteSpace || "+.&_\\,".utf8.contains($0) }
        let joins = gap.contains { "+.&\n".utf8.contains($0) }
        return joins && text[gap.endIndex...].first == text.first ? gap.count + 2 : nil
    }
}

/// A line with the length of a chunk in hexadecimal digits (RFC 9112, 7.1), which a capture of a connection has within
/// the body.
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

/// Blanks that a decoder of forms put in place of the plus signs of Base64: in a signature, and in a text in Base64.
enum PlusSigns {
    /// The length of a run of digits with which such a text begins.
    private static let shortest = 16

    /// - Parameter sign: What stands for each blank.
    static func restore(in text: inout Rewriter, as sign: String) {
        while let run = DigitRun.next(in: text.rest, from: text.rest.startIndex, until: text.rest.endIndex) {
            text.copy(to: run.end)
            let isSignature = text.written(13).isSame(as: "signatureInfo")
            guard run.end - run.start >= shortest || isSignature else { continue }
            if isSignature { text.copy(to: text.rest.prefix { $0 == UInt8(ascii: ">") || isDigit($0) }.endIndex) }
            while case let blanks = text.rest.prefix(while: { $0 == UInt8(ascii: " ") }), !blanks.isEmpty,
                text.rest[blanks.endIndex...].first.map({ isDigit($0) || $0 == UInt8(ascii: "&") }) ?? true
            {
                text.replace(blanks.count, with: blanks.flatMap { _ in sign.utf8 })
                text.copy(to: text.rest.prefix { isDigit($0) }.endIndex)
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "+/=".utf8.contains(byte) }
}

/// What Proofpoint URL Defense makes of the links in a mail.
enum LinkProtection {
    /// Restores the links of version 2, `https://urldefense.proofpoint.com/v2/url?u=https-3A__host_path&d=…`, and of
    /// version 3, `https://urldefense.com/v3/__https://host/a*b__;Kw!!…$`, which has what `*` stands for after the
    /// link.
    static func remove(from text: inout Rewriter) {
        while let start = text.rest.position(ofAny: marks) {
            text.copy(to: start)
            if text.written(7).isSame(as: "/v2/url"), text.rest.begins(with: "?u=") {
                text.copy(to: start + 3)
                let link = text.rest.prefix { !$0.isASCIIWhiteSpace && $0 != UInt8(ascii: "&") }
                let escaped = link.map {
                    $0 == UInt8(ascii: "-") ? UInt8(ascii: "%") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
                }
                text.replace(link.count, with: (try? PercentEncoding.decode(escaped[...])) ?? link)
            } else if text.written(third.count).elementsEqual(third), text.rest.begins(with: "__") {
                let link = text.rest.prefix(longest).prefix { $0 > 0x20 && !"\"<>".utf8.contains($0) }
                text.replace(link.count, with: Self.restored(link.dropFirst(2)) ?? Array(link))
            } else {
                text.copy(to: start + 1)
            }
        }
    }

    private static let marks = Array("?_".utf8)
    private static let third = Array("urldefense.com/v3/".utf8)
    private static let longest = 1 << 16

    /// A link of version 3 in which each `*` is replaced by the next of the characters that follow the link, and `**`
    /// with a digit of Base64 by as many as the digit says; `nil` if there are too few.
    private static func restored(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let end = text.firstRange(of: Array("__;".utf8)),
            let bytes = try? Base64.decode(
                text[end.upperBound...].prefix { $0 != UInt8(ascii: "!") }, alphabet: .urlSafe, padding: .optional)
        else { return nil }
        var (rest, restored) = (text[..<end.lowerBound], [UInt8]())
        var left = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let star = rest.position(of: UInt8(ascii: "*")) {
            restored += rest[..<star]
            rest = rest[(star + 1)...]
            var count = 1
            if rest.first == UInt8(ascii: "*"), let digit = rest.dropFirst().first,
                let number = Base64Alphabet.urlSafe.digits.firstIndex(of: digit)
            {
                (count, rest) = (number + 2, rest.dropFirst(2))
            }
            guard left.count >= count else { return nil }
            for character in left.prefix(count) { restored += String(character).utf8 }
            left = left.dropFirst(count)
        }
        return restored + rest
    }
}
