internal import TextEncodings

/// The line breaks that a terminal, a mail, a logger or an editor put into a text, and what they put before each line.
enum LineWraps {
    /// The parts of the text between its line breaks.
    static func lines(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.split(separator: text.contains(0x0A) ? 0x0A : 0x0D, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
    }

    /// The lines without what a logger, a mail or a dump began each of them with, as a time and a name: what a line has in
    /// common with the line before or behind it, where digits count as equal.
    static func linesWithoutPrefixes(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let lines = lines(of: text)
        var before = 0
        return lines.indices.map { index in
            let behind = index + 1 < lines.count ? prefixLength(of: lines[index], lines[index + 1]) : 0
            defer { before = behind }
            let length = max(before, behind)
            let (prefix, rest) = (lines[index].prefix(length), lines[index].dropFirst(length))
            // The log of a container says of each line whether it is a part (P) or the end (F) of what was written.
            let hasFlag = prefix.suffix(7).begins(with: "std") && (rest.begins(with: "P ") || rest.begins(with: "F "))
            return hasFlag ? rest.dropFirst(2) : rest
        }
    }

    private static func prefixLength(of line: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Int {
        var (length, end) = (0, 0)
        for (byte, otherByte) in zip(line.prefix(prefixLimit), other) {
            guard byte == otherByte || Hexadecimal.value(of: byte) != nil && Hexadecimal.value(of: otherByte) != nil
            else { break }
            length += 1
            if " \t:|]>".utf8.contains(byte) { end = length }
        }
        return end < shortestPrefix && line.first != 0x09 ? 0 : end
    }

    private static let prefixLimit = 200
    private static let shortestPrefix = 2
}
