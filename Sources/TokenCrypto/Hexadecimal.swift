extension [UInt8] {
    /// Two digits a byte, in lower case.
    package var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}

extension UInt64 {
    /// All sixteen digits, in lower case.
    package var hexadecimal: String { Swift.withUnsafeBytes(of: bigEndian) { $0.hexadecimal } }
}

extension UnsafeRawBufferPointer {
    fileprivate var hexadecimal: String {
        String(unsafeUninitializedCapacity: 2 * count) { output in
            for (position, byte) in enumerated() {
                output[2 * position] = Self.digit(byte >> 4)
                output[2 * position + 1] = Self.digit(byte & 15)
            }
            return 2 * count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
