internal import TextEncodings

/// The line breaks that a terminal, a mail, a logger or an editor put into a text, and the frame around each line.
enum LineWraps {
    /// The parts of the text between its line breaks.
    ///
    /// - Parameter withoutFrames: whether what a logger, a mail or a table put before and behind each part is left out, as a time
    ///   and a name: what a line has in common with the line before or after it, where digits count as equal.
    static func lines(of text: ArraySlice<UInt8>, withoutFrames: Bool = false) -> [ArraySlice<UInt8>] {
        let lines = text.split(separator: text.contains(0x0A) ? 0x0A : 0x0D, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        guard withoutFrames else { return lines }
        var before = (prefix: 0, suffix: 0)
        return lines.indices.map { index in
            let next = index + 1 < lines.count ? lines[index + 1] : []
            let behind = (prefix: prefixLength(lines[index], next), suffix: suffixLength(lines[index], next))
            defer { before = behind }
            let prefix = lines[index].prefix(max(before.prefix, behind.prefix))
            let rest = lines[index][prefix.endIndex...].dropLast(max(before.suffix, behind.suffix))
            // The log of a container says of each line whether it is a part (P) or the end (F) of what was written.
            let hasFlag = prefix.suffix(7).begins(with: "std") && (rest.begins(with: "P ") || rest.begins(with: "F "))
            return hasFlag ? rest.dropFirst(2) : rest
        }
    }

    private static let longest = 200
    private static let shortest = 2

    /// The length of what two lines begin with, up to its last separator.
    private static func prefixLength(_ line: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Int {
        let length = commonLength(line, other) { " \t:|]>\"".utf8.contains($0) }
        return length < shortest && line.first != 0x09 ? 0 : length
    }

    /// The length of what two lines end with, from its first separator.
    private static func suffixLength(_ line: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Int {
        let length = commonLength(line.reversed(), other.reversed()) { " \t|\"".utf8.contains($0) }
        return length < shortest ? 0 : length
    }

    private static func commonLength(
        _ line: some Sequence<UInt8>, _ other: some Sequence<UInt8>, until isSeparator: (UInt8) -> Bool
    ) -> Int {
        var (length, end) = (0, 0)
        for (byte, otherByte) in zip(line, other) where length < longest {
            let areDigits = Hexadecimal.value(of: byte) != nil && Hexadecimal.value(of: otherByte) != nil
            guard byte == otherByte || areDigits else { break }
            length += 1
            if isSeparator(byte) { end = length }
        }
        return end
    }
}
