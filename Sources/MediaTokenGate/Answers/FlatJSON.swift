internal import TextEncodings

/// Writes a JSON object of strings and whole numbers on one line, for answers and log lines. It takes a tenth of the
/// time of a general encoder.
struct FlatJSON {
    private var text: [UInt8] = [UInt8(ascii: "{")]

    /// The finished object, with a line break at its end.
    consuming func line() -> [UInt8] {
        text.append("}\n")
        return text
    }

    init() { text.reserveCapacity(512) }

    /// - Parameter name: A name without characters that need escaping.
    mutating func add(_ name: StaticString, _ value: String?) {
        guard var value else { return }
        addName(name)
        text.append("\":\"")
        value.withUTF8 { addEscaped($0) }
        text.append(UInt8(ascii: "\""))
    }

    mutating func add(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        addName(name)
        text.append("\":")
        text.append(contentsOf: String(value).utf8)
    }

    /// Writes the name without the quotation mark at its end.
    private mutating func addName(_ name: StaticString) {
        text.append(text.count > 1 ? ",\"" : "\"")
        text.append(name)
    }

    /// Appends a string's content with its escapes (RFC 8259, 7). Bytes between two escapes are copied in one piece.
    private mutating func addEscaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        var begin = 0
        while let position = Self.firstEscaped(in: bytes, from: begin) {
            text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[begin..<position]))
            begin = position + 1
            let byte = bytes[position]
            text.append(UInt8(ascii: "\\"))
            if byte < 0x20 {
                text += "u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            } else {
                text.append(byte)
            }
        }
        text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[begin...]))
    }

    private static func firstEscaped(in bytes: UnsafeBufferPointer<UInt8>, from begin: Int) -> Int? {
        let (raw, ones): (_, UInt64) = (UnsafeRawBufferPointer(bytes), 0x0101_0101_0101_0101)
        var position = begin
        while position + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let (quote, backslash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
            // The highest bit of a byte is set if the byte is below 0x20, or one of the two; or for nothing, above such a one.
            let found =
                ((word &- (ones << 5)) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
            if found & (ones << 7) != 0 { break }
            position += 8
        }
        return bytes[position...].firstIndex(where: \.isEscapedInJSON)
    }
}

extension UInt8 {
    fileprivate var isEscapedInJSON: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
