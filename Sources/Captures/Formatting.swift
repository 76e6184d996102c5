/// What shows a text in another way, and is no part of it: the colours of a terminal, characters without a width, the quotes and
/// blanks of a word processor.
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
}
