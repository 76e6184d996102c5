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
        var decoded: [UInt8] = []
        decoded.reserveCapacity(digits.count / 4 * 3 + 2)
        var pending: UInt32 = 0
        var pendingBits = 0
        for index in digits.indices {
            let value = values[Int(digits[index])]
            guard value != noValue else { throw .strayByte(offset: index - text.startIndex) }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                decoded.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
            }
        }
        guard pending & (1 << UInt32(pendingBits) - 1) == 0 else { throw .nonZeroPadBits }
        return decoded
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
