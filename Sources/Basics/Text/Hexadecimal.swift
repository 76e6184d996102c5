/// Hexadecimal digits (RFC 4648, 8), two per byte.
package enum Hexadecimal {
    /// The value of a hexadecimal digit in either case; `nil` if the byte is not one.
    @inlinable package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    fileprivate static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { output in
            for (position, byte) in bytes.enumerated() {
                output[2 * position] = digit(byte >> 4)
                output[2 * position + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension [UInt8] {
    /// The bytes as hexadecimal digits in lower case, two per byte.
    package var hexadecimal: String { withUnsafeBytes { Hexadecimal.text(of: $0) } }
}

extension UInt64 {
    /// The number as sixteen hexadecimal digits in lower case, the most significant first.
    package var hexadecimal: String { Swift.withUnsafeBytes(of: bigEndian) { Hexadecimal.text(of: $0) } }
}
