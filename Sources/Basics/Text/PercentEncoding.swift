/// Percent-encoding (RFC 3986, 2.1) and its variant for HTML forms.
package enum PercentEncoding {
    // Unreached: Encodes for clients and tests; nothing that arrives is encoded.
    /// Escapes all characters except the unreserved ones (RFC 3986, 2.3).
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            switch byte {
            case _ where byte.isLetterOrDigit || "-._~".utf8.contains(byte): encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes every escape, and decodes `+` to a space if the text came from a form encoder.
    ///
    /// The text itself shows which kind of encoder wrote it. A form encoder writes a plus sign as `%2B` and may write a
    /// space as `+`. An encoder that leaves a plus sign alone writes a space as `%20`. So if the text may hold spaces,
    /// an unescaped `+` is a plus sign only if the text contains a `%20` and no `%2B`.
    ///
    /// - Parameter holdsSpaces: Whether the decoded text may hold spaces, as a token's clear text does and Base64 does
    ///   not. If it may not, a `+` is always a plus sign.
    package static func decode(
        _ text: ArraySlice<UInt8>, holdsSpaces: Bool
    ) throws(PercentEncodingError) -> ArraySlice<UInt8> {
        try decode(text, plus: holdsSpaces && spaceIsPlus(in: text) ? UInt8(ascii: " ") : UInt8(ascii: "+"))
    }

    /// Decodes every escape, and `+` to `plus`.
    package static func decode(
        _ text: ArraySlice<UInt8>, plus: UInt8 = UInt8(ascii: "+")
    ) throws(PercentEncodingError) -> ArraySlice<UInt8> {
        // All empty arrays share one object, and decoding would write to it.
        guard !text.isEmpty else { return text }
        var broken: Int?
        let decoded = [UInt8](unsafeUninitializedCapacity: text.count) { decoded, decodedCount in
            text.withUnsafeBufferPointer { text in
                var (index, count) = (0, 0)
                while index < text.count {
                    var byte = text[index]
                    if byte == UInt8(ascii: "%") {
                        guard let escaped = escapedByte(in: text, at: index) else { return broken = index }
                        byte = escaped
                        index += 2
                    } else if byte == UInt8(ascii: "+") {
                        byte = plus
                    }
                    decoded[count] = byte
                    count += 1
                    index += 1
                }
                decodedCount = count
            }
        }
        if let broken { throw PercentEncodingError(offset: broken) }
        return decoded[...]
    }

    private static func spaceIsPlus(in text: ArraySlice<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { text in
            var escapesSpace = false
            for index in 0..<text.count where text[index] == UInt8(ascii: "%") {
                switch escapedByte(in: text, at: index) {
                case UInt8(ascii: "+"): return true
                case UInt8(ascii: " "): escapesSpace = true
                default: continue
                }
            }
            return !escapesSpace
        }
    }

    @inline(__always)
    private static func escapedByte(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < text.count, let high = Hexadecimal.value(of: text[index + 1]),
            let low = Hexadecimal.value(of: text[index + 2])
        else { return nil }
        return high << 4 | low
    }
}

/// A `%` that is not followed by two hexadecimal digits.
package struct PercentEncodingError: Error {
    /// The position of the `%`, in bytes.
    package let offset: Int
}
