internal import TextEncodings

/// Bytes that are written as numbers, in a list or in a row: `[60, 115]`, `0x3c, 0x73`, `3c:73`, `<Buffer 3c 73>`, `<3c736967 6e61>`.
enum ByteValues {
    private static let shortest = 24

    /// The text, with the bytes in place of each list of them.
    static func replaced(in text: ArraySlice<UInt8>) -> [UInt8] {
        var (replaced, copied, position) = ([UInt8](), text.startIndex, text.startIndex)
        while let start = text[position...].firstIndex(where: isWordByte) {
            var (words, end) = ([ArraySlice<UInt8>](), start)
            var rest = text[start...]
            while !rest.isEmpty, let word = number(in: rest) {
                words.append(word)
                end = word.endIndex
                rest = text[end...].drop { " \t\r\n,:;-\\\"'".utf8.contains($0) }
            }
            if let bytes = bytes(of: words, in: text) {
                replaced += text[copied..<start] + bytes
                copied = end
            }
            position = max(end, text[start...].prefix(while: isWordByte).endIndex)
        }
        return replaced + text[copied...]
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isLetterOrDigit }

    /// The digits of the word at the beginning of `text`, without `0x` or `x`; `nil` if it is no number.
    private static func number(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let word = text.prefix(while: isWordByte)
        let digits = word.dropping("0x") ?? word.dropping("x") ?? word
        guard !digits.isEmpty, digits.allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        return digits
    }

    /// The bytes that the words denote, in the first base that gives mostly printable text; `nil` if none does.
    private static func bytes(of words: [ArraySlice<UInt8>], in text: ArraySlice<UInt8>) -> [UInt8]? {
        func isNegative(_ word: ArraySlice<UInt8>) -> Bool {
            word.startIndex > text.startIndex && text[word.startIndex - 1] == UInt8(ascii: "-")
        }
        for base in [8, 10, 16] {
            let bytes = words.flatMap { word -> [UInt8] in
                if base == 16 { return HexDigits.bytes(of: word) }
                guard let value = UInt8(String(decoding: word, as: UTF8.self), radix: base) else { return [] }
                // The bytes of Java are signed.
                return [base == 10 && isNegative(word) ? 0 &- value : value]
            }
            let isComplete = base == 16 ? words.allSatisfy { $0.count.isMultiple(of: 2) } : bytes.count == words.count
            let strange = bytes.count { $0 < 0x20 && !$0.isASCIIWhiteSpace || $0 >= 0x7F }
            if isComplete, bytes.count >= shortest, strange * 8 <= bytes.count { return bytes }
        }
        return nil
    }
}
