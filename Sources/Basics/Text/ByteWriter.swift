/// Writes texts, numbers and bytes one after the other into memory that it owns and that grows with them.
///
/// Use it where many short pieces make one text. Appending a piece to an array costs about five times as much, since
/// the array checks each time whether anything else refers to it.
package struct ByteWriter: ~Copyable {
    @usableFromInline var start: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    /// How many bytes were written.
    @usableFromInline package var count = 0

    /// - Parameter capacity: How many bytes can be written before the memory has to grow.
    package init(capacity: Int) {
        self.capacity = max(16, capacity)
        start = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { start.deallocate() }

    /// Forgets the bytes that were written, and keeps the memory.
    package mutating func removeAll() { count = 0 }

    /// Writes one byte.
    @inlinable @inline(__always)
    package mutating func write(_ byte: UInt8) {
        reserve(1)
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Writes the bytes of a text in UTF-8.
    @inlinable @inline(__always)
    package mutating func write(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount)
        (start + count).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    /// Writes the bytes of a text in UTF-8.
    package mutating func write(text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes.
    package mutating func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    /// Writes bytes.
    @inlinable
    package mutating func write(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).copyMemory(from: first, byteCount: bytes.count)
        count += bytes.count
    }

    /// Writes a number in decimal.
    package mutating func write(decimal number: Int64) {
        guard number >= 0 else { return write(text: String(number)) }
        var (rest, length) = (number, 1)
        while rest >= 10 { (rest, length) = (rest / 10, length + 1) }
        reserve(length)
        rest = number
        for place in (count..<(count + length)).reversed() {
            let digit = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            start.storeBytes(of: digit, toByteOffset: place, as: UInt8.self)
            rest /= 10
        }
        count += length
    }

    /// Writes a number as sixteen hexadecimal digits in lower case, the most significant first.
    package mutating func write(hexadecimal number: UInt64) {
        reserve(16)
        for place in 0..<16 {
            let digit = Hexadecimal.digit(UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * place)) & 15)
            start.storeBytes(of: digit, toByteOffset: count + place, as: UInt8.self)
        }
        count += 16
    }

    /// Calls `body` with the bytes that were written.
    package borrowing func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The bytes that were written, as a text. It has replacement characters in place of what is not UTF-8.
    package var text: String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A copy of the bytes that were written.
    package var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: start, count: count)) }

    /// Makes room for so many more bytes.
    @inlinable @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(toHold: more) }
    }

    @usableFromInline
    mutating func grow(toHold more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
    }
}
