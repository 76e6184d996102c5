extension [UInt8] {
    /// Appends the bytes of a text in UTF-8.
    package mutating func append(_ text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension String {
    /// The text of bytes that are UTF-8; `nil` for any others. It costs half of `String(validating:as:)`, which serves
    /// every encoding.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        self.init(copying: text)
    }
}
