/// Base64 (RFC 4648), read so strictly that every sequence of bytes has exactly one spelling in each alphabet.
enum Base64 {
    enum Alphabet: Sendable {
        case standard, urlSafe
    }

    enum Padding: Sendable {
        case required, optional
    }

    enum Problem: Error, Equatable, Sendable {
        /// A byte outside of the alphabet, or padding before the end.
        case strayByte(offset: Int)
        case wrongLength(Int)
        /// The last character carries bits that belong to no byte, and they are not zero.
        case nonZeroPadBits
    }

    static func decode(
        _ text: ArraySlice<UInt8>, alphabet: Alphabet, padding: Padding
    ) throws(Problem) -> [UInt8] {
        let digits = try withoutPadding(text, padding)
        let values = alphabet == .standard ? standardValues : urlSafeValues
        var (stray, left) = (Int?.none, BitsLeft())
        let decoded = [UInt8](unsafeUninitializedCapacity: digits.count / 4 * 3 + 2) { decoded, count in
            digits.withUnsafeBufferPointer { digits in
                var next = decodeGroups(digits, values, into: decoded, &count)
                while next < digits.count {
                    let value = values[Int(digits[next])]
                    guard value != noValue else { return stray = next }
                    if let byte = left.add(value) {
                        decoded[count] = byte
                        count += 1
                    }
                    next += 1
                }
            }
        }
        if let stray { throw .strayByte(offset: stray) }
        guard left.areZero else { throw .nonZeroPadBits }
        return decoded
    }

    /// Decodes whole groups of four digits, up to one that holds a stray byte.
    ///
    /// - Returns: how many digits those are.
    private static func decodeGroups(
        _ digits: UnsafeBufferPointer<UInt8>, _ values: [UInt8], into decoded: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Int {
        values.withUnsafeBufferPointer { values in
            var next = 0
            while next + 4 <= digits.count {
                let (first, second) = (values[Int(digits[next])], values[Int(digits[next + 1])])
                let (third, fourth) = (values[Int(digits[next + 2])], values[Int(digits[next + 3])])
                // A digit has six bits, and `noValue` has eight.
                guard (first | second | third | fourth) & 0xC0 == 0 else { break }
                decoded[count] = first << 2 | second >> 4
                decoded[count + 1] = second << 4 | third >> 2
                decoded[count + 2] = third << 6 | fourth
                count += 3
                next += 4
            }
            return next
        }
    }

    /// What is left of the digits of a group that is not whole.
    private struct BitsLeft {
        private var bits: UInt32 = 0
        private var count: UInt32 = 0

        var areZero: Bool { bits & (1 << count - 1) == 0 }

        /// The next byte, once there are eight bits.
        mutating func add(_ value: UInt8) -> UInt8? {
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { return nil }
            count -= 8
            return UInt8(truncatingIfNeeded: bits >> count)
        }
    }

    private static func withoutPadding(
        _ text: ArraySlice<UInt8>, _ padding: Padding
    ) throws(Problem) -> ArraySlice<UInt8> {
        let pad = UInt8(ascii: "=")
        var digits = text
        while digits.last == pad, text.count - digits.count < 2 { digits = digits.dropLast() }
        let isPadded = digits.count < text.count
        guard digits.count % 4 != 1, !(isPadded || padding == .required) || text.count % 4 == 0 else {
            throw .wrongLength(text.count)
        }
        return digits
    }

    private static let noValue: UInt8 = 0xFF
    private static let standardValues = values(of: "+/")
    private static let urlSafeValues = values(of: "-_")

    private static func values(of lastTwo: String) -> [UInt8] {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo
        var values = [UInt8](repeating: noValue, count: 256)
        for (value, digit) in alphabet.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
