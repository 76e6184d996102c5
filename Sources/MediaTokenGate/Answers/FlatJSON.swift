internal import Basics

/// Writes JSON objects of strings and whole numbers, each on a line of its own, for answers and log lines. It takes a
/// small part of the time of a general encoder.
struct FlatJSON: ~Copyable {
    private var text: ByteWriter
    private var isFirst = true

    /// - Parameter capacity: How many bytes can be written before the memory has to grow.
    init(capacity: Int = 512) { text = ByteWriter(capacity: capacity) }

    /// The lines that were written.
    var bytes: [UInt8] { text.bytes }

    /// Begins an object.
    mutating func open() {
        text.write(UInt8(ascii: "{"))
        isFirst = true
    }

    /// Ends the object, and its line.
    mutating func close() { text.write("}\n") }

    /// - Parameter name: A name without characters that need escaping.
    mutating func add(_ name: StaticString, _ value: String?) {
        guard var value else { return }
        value.withUTF8 { add(name, UnsafeRawBufferPointer($0)) }
    }

    mutating func add(_ name: StaticString, constant value: StaticString) {
        add(name, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
    }

    /// Adds the bytes of a text in UTF-8.
    mutating func add(_ name: StaticString, _ bytes: UnsafeRawBufferPointer) {
        addName(name)
        text.write("\":\"")
        addEscaped(bytes)
        text.write(UInt8(ascii: "\""))
    }

    /// Adds a number as sixteen hexadecimal digits.
    mutating func add(_ name: StaticString, hexadecimal word: UInt64?) {
        guard let word else { return }
        addName(name)
        text.write("\":\"")
        text.write(hexadecimal: word)
        text.write(UInt8(ascii: "\""))
    }

    mutating func add(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        addName(name)
        text.write("\":")
        text.write(decimal: Int64(value))
    }

    mutating func add(_ name: StaticString, _ value: Bool) {
        addName(name)
        text.write(value ? "\":true" : "\":false")
    }

    /// Writes the name without the quotation mark at its end.
    private mutating func addName(_ name: StaticString) {
        text.write(isFirst ? "\"" : ",\"")
        text.write(name)
        isFirst = false
    }

    /// Appends a string's content with its escapes (RFC 8259, 7). Bytes between two escapes are copied in one piece.
    private mutating func addEscaped(_ bytes: UnsafeRawBufferPointer) {
        var begin = 0
        while let position = Self.firstEscaped(in: bytes, from: begin) {
            text.write(UnsafeRawBufferPointer(rebasing: bytes[begin..<position]))
            begin = position + 1
            let byte = bytes[position]
            text.write(UInt8(ascii: "\\"))
            if byte < 0x20 {
                text.write(text: "u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))")
            } else {
                text.write(byte)
            }
        }
        text.write(UnsafeRawBufferPointer(rebasing: bytes[begin...]))
    }

    private static func firstEscaped(in bytes: UnsafeRawBufferPointer, from begin: Int) -> Int? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = begin
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let (quote, backslash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
            // The top bit marks a byte that needs an escape. A borrow may also mark the byte after it, so the loop
            // below looks at each byte.
            let found =
                ((word &- (ones << 5)) & ~word) | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
            if found & (ones << 7) != 0 { break }
            position += 8
        }
        while position < bytes.count {
            if bytes[position].isEscapedInJSON { return position }
            position += 1
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isEscapedInJSON: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
