internal import Basics

/// What shows a text in another way, and is no part of it: the colours of a terminal, characters without a width, the
/// quotes and blanks of a word processor.
enum Formatting {
    private static let escape: UInt8 = 0x1B
    private static let bell: UInt8 = 0x07

    /// Characters in UTF-8, with what is written for them in a token.
    private static let characters: [(character: [UInt8], plain: [UInt8])] = [
        ("\u{AD}", ""), ("\u{200B}", ""), ("\u{200C}", ""), ("\u{200D}", ""), ("\u{200E}", ""), ("\u{200F}", ""),
        ("\u{202A}", ""), ("\u{202C}", ""), ("\u{2060}", ""), ("\u{FEFF}", ""), ("\u{A0}", " "), ("\u{202F}", " "),
        ("\u{2010}", "-"), ("\u{2011}", "-"), ("\u{2013}", "-"), ("\u{2014}", "-"), ("\u{2212}", "-"),
        ("\u{201C}", "\""), ("\u{201D}", "\""), ("\u{201E}", "\""), ("\u{2018}", "'"), ("\u{2019}", "'"),
    ].map { (Array($0.0.utf8), Array($0.1.utf8)) }

    static func remove(from text: inout Rewriter) {
        while let special = text.rest.firstIndex(where: { $0 == escape || $0 >= 0xC2 }) {
            text.copy(to: special)
            if text.rest.first == escape {
                text.replace(min(controlLength(of: text.rest), text.rest.count))
            } else if let known = characters.first(where: { text.rest.starts(with: $0.character) }) {
                text.replace(known.character.count, with: known.plain)
            } else {
                text.copy(to: special + 1)
            }
        }
    }

    /// The length of the control sequence at the beginning of `text` (ECMA-48): `ESC [ 31 m`, `ESC ] 8 ; ; … BEL`.
    private static func controlLength(of text: ArraySlice<UInt8>) -> Int {
        let (kind, rest) = (text.dropFirst().first, text.dropFirst(2))
        switch kind {
        case UInt8(ascii: "["): return 3 + rest.prefix { !(0x40...0x7E).contains($0) }.count
        case UInt8(ascii: "]"):
            let command = rest.prefix { $0 != bell && $0 != escape && $0 != 0x0A }
            switch text[command.endIndex...].first {
            case bell: return command.count + 3
            case escape: return command.count + 4
            default: return 1
            }
        default: return 1
        }
    }

    private static let tagLimit = 400
    /// The tags that pages put around parts of a text; those of office documents have a prefix, as `w:t` has.
    private static let tags = [
        "a", "b", "br", "code", "div", "em", "font", "i", "mark", "p", "pre", "span", "strong", "td", "tr", "wbr",
    ]

    /// Whether a token has such tags in it.
    static func hasTags(_ token: ArraySlice<UInt8>) -> Bool {
        var rewriter = Rewriter(token, .one)
        removeTags(from: &rewriter)
        return rewriter.finish() != nil
    }

    /// Takes out the tags of a page or a document, which are none of a token's.
    static func removeTags(from text: inout Rewriter) {
        while let start = text.rest.position(of: UInt8(ascii: "<")) {
            text.copy(to: start)
            let inside = text.rest.prefix(tagLimit).dropFirst().drop { $0 == UInt8(ascii: "/") }
            let name = inside.prefix { $0.isLetterOrDigit || $0 == UInt8(ascii: ":") }
            let isKnown = name.contains(UInt8(ascii: ":")) || tags.contains(where: name.isSame)
            if isKnown, let end = inside.firstIndex(of: UInt8(ascii: ">")) {
                text.replace(end + 1 - start)
            } else {
                text.copy(to: start + 1)
            }
        }
    }
}
