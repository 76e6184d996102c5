/// Base64 (RFC 4648), decoded so strictly that every byte sequence has exactly one encoding in each alphabet.
package enum Base64 {
    /// Encodes `bytes`, with padding unless `isPadded` is false.
    package static func encode(
        _ bytes: [UInt8], alphabet: Base64Alphabet = .standard, isPadded: Bool = true
    ) -> String {
        let digitCount = (bytes.count * 8 + 5) / 6
        let length = isPadded ? (bytes.count + 2) / 3 * 4 : digitCount
        return String(unsafeUninitializedCapacity: length + digitsWrittenBeyond) { text in
            alphabet.digits.withUnsafeBufferPointer { digits in
                var (position, next) = (0, 0)
                // A group at the end, which lacks bytes, gets its digits like all others; those beyond are written
                // over.
                while next < bytes.count {
                    let second = next + 1 < bytes.count ? Int(bytes[next + 1]) : 0
                    let third = next + 2 < bytes.count ? Int(bytes[next + 2]) : 0
                    let group = Int(bytes[next]) << 16 | second << 8 | third
                    text[position] = digits[group >> 18]
                    text[position + 1] = digits[group >> 12 & 63]
                    text[position + 2] = digits[group >> 6 & 63]
                    text[position + 3] = digits[group & 63]
                    (position, next) = (position + 4, next + 3)
                }
            }
            for position in digitCount..<length { text[position] = alphabet.pad }
            return length
        }
    }

    /// The digits of a group at the end that belong to none of its bytes.
    private static let digitsWrittenBeyond = 3

    package enum Padding: Sendable {
        case required, optional, forbidden
    }

    package static func decode(
        _ text: ArraySlice<UInt8>, alphabet: Base64Alphabet, padding: Padding
    ) throws(Base64Error) -> [UInt8] {
        let digits = try withoutPadding(text, alphabet, padding)
        var (stray, left) = (Int?.none, BitsLeft())
        let capacity = digits.count / 4 * 3 + 2 + bytesWrittenBeyond
        let decoded = [UInt8](unsafeUninitializedCapacity: capacity) { decoded, count in
            digits.withUnsafeBufferPointer { digits in
                var next = alphabet.values.withUnsafeBufferPointer { decodeGroups(digits, $0, into: decoded) }
                count = next / 4 * 3
                while next < digits.count {
                    let value = alphabet.values[Int(digits[next])]
                    guard value != Base64Alphabet.noValue else { return stray = next }
                    if let byte = left.add(value) {
                        decoded[count] = byte
                        count += 1
                    }
                    next += 1
                }
            }
        }
        if let stray { throw .strayByte(digits[digits.startIndex + stray], after: stray) }
        guard left.areZero else { throw .nonZeroPadBits }
        return decoded
    }

    /// Decodes groups of four digits, up to the first group that is incomplete or contains a stray byte.
    ///
    /// - Returns: The number of digits decoded.
    private static func decodeGroups(
        _ digits: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt32>,
        into decoded: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let output = UnsafeMutableRawBufferPointer(decoded)
        var (next, count) = (0, 0)
        while next + 4 <= digits.count {
            let group =
                values[Int(digits[next]) + 768] | values[Int(digits[next + 1]) + 512]
                | values[Int(digits[next + 2]) + 256] | values[Int(digits[next + 3])]
            guard group & Base64Alphabet.noValue == 0 else { break }
            output.storeBytes(of: (group << 8).bigEndian, toByteOffset: count, as: UInt32.self)
            count += 3
            next += 4
        }
        return next
    }

    /// The number of bytes written past the end of a group, which has three bytes but is stored as four.
    private static let bytesWrittenBeyond = 1

    /// The leftover bits of the digits in an incomplete group.
    private struct BitsLeft {
        private var bits: UInt32 = 0
        private var count: UInt32 = 0

        var areZero: Bool { bits & (1 << count - 1) == 0 }

        /// Adds a digit's six bits. Returns the next byte if there are eight bits.
        mutating func add(_ value: UInt32) -> UInt8? {
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { return nil }
            count -= 8
            return UInt8(truncatingIfNeeded: bits >> count)
        }
    }

    private static func withoutPadding(
        _ text: ArraySlice<UInt8>, _ alphabet: Base64Alphabet, _ padding: Padding
    ) throws(Base64Error) -> ArraySlice<UInt8> {
        let pad = alphabet.pad
        let pads = padding == .forbidden || text.last != pad ? 0 : text.dropLast().last != pad ? 1 : 2
        let digits = text.dropLast(pads)
        guard digits.count % 4 != 1, !(pads > 0 || padding == .required) || text.count % 4 == 0 else {
            // A byte that does not belong there is what made the length a wrong one.
            if let stray = digits.firstIndex(where: { alphabet.values[Int($0)] == Base64Alphabet.noValue }) {
                throw .strayByte(digits[stray], after: stray - digits.startIndex)
            }
            throw digits.count % 4 == 1 ? .wrongLength(digits.count) : .wrongPadding(digits.count)
        }
        return digits
    }

    /// The text without its line breaks, LF or CR LF, of which encoders put one after every 76 digits (RFC 2045, 6.8).
    package static func withoutLineBreaks(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.position(of: 0x0A) != nil else { return text }
        let digits = [UInt8](unsafeUninitializedCapacity: text.count) { digits, count in
            text.withUnsafeBufferPointer { text in
                for (index, byte) in text.enumerated() {
                    let isLineBreak = byte == 0x0A || byte == 0x0D && index + 1 < text.count && text[index + 1] == 0x0A
                    guard !isLineBreak else { continue }
                    digits[count] = byte
                    count += 1
                }
            }
        }
        return digits[...]
    }
}

/// A Base64 alphabet. Alphabets differ in the last two digits and in the padding.
package struct Base64Alphabet: Sendable {
    /// The standard alphabet (RFC 4648, 4).
    package static let standard = Base64Alphabet(lastTwo: "+/", pad: "=")
    /// The alphabet for URLs and file names (RFC 4648, 5).
    package static let urlSafe = Base64Alphabet(lastTwo: "-_", pad: "=")
    /// CloudFront's alphabet for the query parameters and cookies of signed URLs (Amazon CloudFront Developer Guide).
    package static let cloudFront = Base64Alphabet(lastTwo: "-~", pad: "_")

    /// A bit that is not set in the value of any digit.
    static let noValue: UInt32 = 0x8000_0000

    /// The 64 digits, indexed by value.
    package let digits: [UInt8]
    /// The value of each byte; ``noValue`` if the byte is not a digit. The same follows three times, shifted by 6, 12
    /// and 18 bits.
    let values: [UInt32]
    let pad: UInt8

    private init(lastTwo: String, pad: Unicode.Scalar) {
        digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + lastTwo.utf8
        var values = [UInt32](repeating: Self.noValue, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt32(value) }
        self.values = (0..<4).flatMap { shift in values.map { $0 == Self.noValue ? $0 : $0 << UInt32(6 * shift) } }
        self.pad = UInt8(ascii: pad)
    }
}

/// Why a text is not Base64.
package enum Base64Error: Error, Equatable, Sendable {
    /// A byte outside of the alphabet, or padding before the end, after so many digits.
    case strayByte(UInt8, after: Int)
    /// So many digits are one too few, or three too many.
    case wrongLength(Int)
    /// The padding does not complete so many digits.
    case wrongPadding(Int)
    /// The last character has bits that belong to no byte and are not zero.
    case nonZeroPadBits

    /// What is wrong with the text, as the end of a sentence.
    package var reason: String {
        switch self {
        case .strayByte(0x20, let count):
            "a blank after \(count) digits (a form has turned a '+' into it: send %2B; or a header was folded: encode without "
                + "line breaks)"
        case .strayByte(let byte, let count):
            "\((0x21...0x7E).contains(byte) ? "'\(Unicode.Scalar(byte))'" : "the byte \([byte].hexadecimal)") after \(count) "
                + "digits; expected a digit of Base64"
        case .wrongLength(let count): "\(count) digits are no whole number of bytes: it was cut short"
        case .wrongPadding(let count): "its padding does not complete \(count) digits to a multiple of 4"
        case .nonZeroPadBits: "its unused last bits are not zero"
        }
    }
}
