internal import TextEncodings

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
