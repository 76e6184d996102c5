internal import TextEncodings

/// A dump as `xxd`, `hexdump -C` or `od -tx1` prints it: on each line an offset, bytes as hexadecimal digits, and perhaps their characters.
enum Hexdump {
    /// The bytes of all rows whose offsets continue each other; the text itself if there are no two of them.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, rows) = ([UInt8](), 0)
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let row = Row(line), rows == 0 || row.offsets.contains(bytes.count) else { continue }
            bytes += row.bytes
            rows += 1
        }
        return rows < 2 ? Array(text) : bytes
    }

    private struct Row {
        /// The row's offset, if its digits are hexadecimal, and if they are octal.
        let offsets: [Int]
        let bytes: [UInt8]

        init?(_ line: ArraySlice<UInt8>) {
            var rest = line.drop(while: \.isBlank)
            let offset = rest.prefix { Hexadecimal.value(of: $0) != nil }
            guard (4...16).contains(offset.count) else { return nil }
            let digits = String(decoding: offset, as: UTF8.self)
            offsets = [16, 8].compactMap { Int(digits, radix: $0) }
            rest = rest[offset.endIndex...]
            if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst() }
            var bytes: [UInt8] = []
            while bytes.count < 32 {
                let blanks = rest.prefix(while: \.isBlank)
                let group = rest[blanks.endIndex...].prefix { Hexadecimal.value(of: $0) != nil }
                // The columns of bytes end at two blanks, of which hexdump has as many in the middle of a row too.
                let isMiddle = bytes.count == 8 && blanks.count == 2
                guard !blanks.isEmpty, blanks.count == 1 || bytes.isEmpty || isMiddle, !group.isEmpty,
                    group.count.isMultiple(of: 2), group.count <= 8
                else { break }
                bytes += HexDigits.bytes(of: group)
                rest = rest[group.endIndex...]
            }
            guard !bytes.isEmpty else { return nil }
            self.bytes = bytes
        }
    }
}

/// Hexadecimal digits of bytes, with or without something between the bytes: `3c73`, `3c 73`, `3c:73`, `\x3c\x73`.
enum HexDigits {
    /// The bytes; the text itself if it is anything else.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, high) = ([UInt8](), UInt8?.none)
        for byte in text {
            if let value = Hexadecimal.value(of: byte) {
                if let begun = high { bytes.append(begun << 4 | value) }
                high = high == nil ? value : nil
            } else {
                guard high == nil || high == 0 && byte == UInt8(ascii: "x"), " \t\r\n:,-\\x\"'".utf8.contains(byte)
                else {
                    return Array(text)
                }
                high = nil
            }
        }
        return bytes
    }
}
