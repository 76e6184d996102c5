internal import Glibc

extension UInt8 {
    /// Space, tab, line feed, vertical tab, form feed or carriage return.
    package var isASCIIWhiteSpace: Bool {
        self == UInt8(ascii: " ") || (0x09...0x0D).contains(self)
    }
}

extension String {
    /// Whether both have the same UTF-8, byte by byte; canonically equivalent texts may differ.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let same = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return memcmp(left, right, other.utf8.count) == 0
            }
        }
        // A string of Swift's own lies in one piece.
        return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Whether it holds U+FFFD, which stands for bytes that were no UTF-8 and might have been anything.
    package var holdsReplacement: Bool {
        // Nearly no text has the first of its three bytes.
        let mayHold = utf8.withContiguousStorageIfAvailable { $0.contains(0xEF) } ?? true
        return mayHold && unicodeScalars.contains("\u{FFFD}")
    }
}

extension Int64 {
    /// The quotient rounded down, also below zero.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension UInt8 {
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
