extension [UInt8] {
    /// Appends the bytes of a text in UTF-8.
    package mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a number in decimal.
    package mutating func append(decimal number: Int) {
        if (0..<10).contains(number) { return append(UInt8(ascii: "0") + UInt8(number)) }
        append(contentsOf: String(number).utf8)
    }
}
