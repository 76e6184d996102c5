internal import Basics

/// The line breaks that a terminal, a mail or a logger put into a text, with the frame around each line.
enum LineFrames {
    /// Joins the lines without what a logger, a mail or a table put before and after each, as a time and a name: what a
    /// line has in common with the line before or after it, where digits count as equal.
    static func remove(from text: inout Rewriter) {
        let lines = text.rest.split(separator: text.rest.contains(0x0A) ? 0x0A : 0x0D, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        var before = (prefix: 0, suffix: 0)
        for (index, line) in lines.enumerated() {
            let next = index + 1 < lines.count ? lines[index + 1] : []
            let behind = (prefix: prefixLength(line, next), suffix: suffixLength(line, next))
            let prefix = line.prefix(max(before.prefix, behind.prefix))
            let rest = line[prefix.endIndex...].dropLast(max(before.suffix, behind.suffix))
            before = behind
            // The log of a container says of each line whether it is a part (P) or the end (F) of what was written.
            let hasFlag = prefix.suffix(7).begins(with: "std") && (rest.begins(with: "P ") || rest.begins(with: "F "))
            let part = hasFlag ? rest.dropFirst(2) : rest
            text.replace(part.startIndex - text.rest.startIndex)
            text.copy(to: part.endIndex)
        }
        text.replace(text.rest.count)
    }

    private static let frameLimit = 120

    /// Takes out the lines that other writers of a log put between those of a token: where its line begins with a time
    /// and a name, `03-15 17:02:00.123  1234  1256 D OkHttp  : `, those that do not begin so, but for the time.
    static func removeOthers(from text: inout Rewriter) {
        var frame: ArraySlice<UInt8> = []
        for line in text.rest.split(separator: 0x0A, omittingEmptySubsequences: false) {
            if frame.isEmpty, EncodedText.marker(in: line) != nil || !ClearText.markers(in: line).isEmpty {
                frame = line.prefix(frameLimit).firstRange(of: Array(": ".utf8)).map { line[..<$0.upperBound] } ?? []
            }
            let isOwn = hasFrame(frame, line)
            text.copy(to: line.startIndex)
            if !isOwn { text.replace(min(line.endIndex + 1, text.rest.endIndex) - line.startIndex) }
        }
    }

    /// Whether a line begins as another line of its writer does. Only the digits of the time may differ, which is in
    /// the first three words.
    static func hasFrame(_ frame: ArraySlice<UInt8>, _ line: ArraySlice<UInt8>) -> Bool {
        var (words, isBlank) = (1, false)
        return line.count >= frame.count
            && zip(line, frame).allSatisfy { byte, other in
                if isBlank, !other.isBlank { words += 1 }
                isBlank = other.isBlank
                return byte == other || words <= timeWords && byte.isDigit && other.isDigit
            }
    }

    private static let timeWords = 3

    /// Joins the lines, without the blanks around each line break.
    static func join(_ text: inout Rewriter, with separator: String) {
        while let lineBreak = text.rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            text.copy(to: text.rest[..<lineBreak].lastIndex { !$0.isBlank }.map { $0 + 1 } ?? text.rest.startIndex)
            let gap = text.rest.prefix { $0.isASCIIWhiteSpace }
            let isInTime = isPartOfTime(text.rest[gap.endIndex...])
            text.replace(gap.count, with: isInTime ? " ".utf8 : separator.utf8)
        }
    }

    /// Whether a text begins with a time of day or an offset: the only blanks of most tokens are before those of their
    /// issue time.
    private static func isPartOfTime(_ text: ArraySlice<UInt8>) -> Bool {
        let form = text.prefix(5).map { $0.isDigit ? UInt8(ascii: "0") : $0 }
        return ["00:00", "-0000", "+0000"].contains { form.elementsEqual($0.utf8) }
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
