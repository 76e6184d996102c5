internal import TextEncodings

/// A dump as `xxd`, `hexdump`, `od` or `curl --trace` prints it: on each line an offset, and bytes as numbers or characters.
enum Hexdump {
    /// The bytes of all rows; the text itself if there are no two of them.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        let rows = text.split(separator: UInt8(ascii: "\n")).compactMap(Row.init)
        let steps = zip(rows, rows.dropFirst()).map { $0.step(to: $1) } + [nil]
        var (bytes, before) = ([UInt8](), Int?.none)
        for (row, step) in zip(rows, steps) {
            // What continues no row and is continued by none is another line, which begins with a number.
            if step != nil || before != nil { bytes += row.bytes.prefix(step ?? before ?? row.bytes.count) }
            before = step
        }
        return bytes.isEmpty ? Array(text) : bytes
    }

    private struct Row {
        private let offset: String
        /// The bytes, perhaps with characters behind them that look like bytes.
        let bytes: [UInt8]

        private static let longest = 32

        init?(_ line: ArraySlice<UInt8>) {
            let blanks = line.drop(while: \.isBlank)
            let line = blanks.dropping("0x") ?? blanks
            let digits = line.prefix { Hexadecimal.value(of: $0) != nil }
            guard (4...16).contains(digits.count) else { return nil }
            offset = String(decoding: digits, as: UTF8.self)
            let columns = line[digits.endIndex...]
            let hasColon = columns.first == UInt8(ascii: ":")
            let numbers = Self.numbers(in: columns.dropFirst(hasColon ? 1 : 0), areWords: !hasColon)
            bytes = numbers.isEmpty ? Self.characters(in: columns) : numbers
            guard !bytes.isEmpty else { return nil }
        }

        /// The number of bytes up to the next row, by the offsets of both, whatever base they are in; `nil` if that does not continue this one.
        func step(to next: Row) -> Int? {
            [16, 10, 8].compactMap { base in
                guard let begin = Int(offset, radix: base), let end = Int(next.offset, radix: base) else { return nil }
                return end - begin
            }.filter { (1...bytes.count).contains($0) }.max()
        }

        /// - Parameter areWords: whether groups of four hexadecimal or six octal digits are numbers of 16 bits.
        private static func numbers(in columns: ArraySlice<UInt8>, areWords: Bool) -> [UInt8] {
            var (bytes, rest) = ([UInt8](), columns)
            while bytes.count < longest {
                let blanks = rest.prefix(while: \.isBlank)
                let group = rest[blanks.endIndex...].prefix { Hexadecimal.value(of: $0) != nil }
                // The columns of bytes end at two blanks, of which hexdump has as many in the middle of a row too.
                let isMiddle = bytes.count == 8 && blanks.count == 2
                guard !blanks.isEmpty, blanks.count == 1 || bytes.isEmpty || isMiddle || areWords && group.count == 4,
                    !group.isEmpty, group.count.isMultiple(of: 2), group.count <= 8
                else { break }
                bytes += value(of: group, isWord: areWords)
                rest = rest[group.endIndex...]
            }
            return bytes
        }

        /// The bytes of a group of digits: hexadecimal ones, those of one byte in bits, or those of a word of 16 bits, in hexadecimal
        /// or octal digits, the second byte of which comes first.
        private static func value(of group: ArraySlice<UInt8>, isWord: Bool) -> [UInt8] {
            let text = String(decoding: group, as: UTF8.self)
            if group.count == 8, let byte = UInt8(text, radix: 2) { return [byte] }
            guard isWord, group.count == 4 || group.count == 6,
                let word = UInt16(text, radix: group.count == 4 ? 16 : 8)
            else { return HexDigits.bytes(of: group) }
            return [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
        }

        /// The bytes of columns of four characters, as `od -c` and `od -a` print them: a character, an escape, or three octal digits.
        private static func characters(in columns: ArraySlice<UInt8>) -> [UInt8] {
            var (bytes, rest) = ([UInt8](), columns)
            while rest.count >= 4, bytes.count < longest {
                let column = rest.prefix(4)
                let digits = column.dropFirst()
                if let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
                    bytes.append(value)
                } else if column.elementsEqual("  sp".utf8) {
                    bytes.append(0x20)
                } else if column.prefix(3).allSatisfy(\.isBlank) {
                    bytes.append(column[column.endIndex - 1])
                } else if column.prefix(2).allSatisfy(\.isBlank), digits.dropFirst().first == UInt8(ascii: "\\") {
                    bytes += BackslashEscape.read(digits.dropFirst()).text
                } else {
                    return []
                }
                rest = rest.dropFirst(4)
            }
            return bytes
        }
    }
}

/// Hexadecimal digits of bytes, with nothing between them.
enum HexDigits {
    /// The bytes; the text itself if it is anything else.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        let digits = text.compactMap(Hexadecimal.value)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return Array(text) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
