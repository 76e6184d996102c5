extension UInt8 {
    /// Space, tab, line feed, vertical tab, form feed or carriage return.
    package var isASCIIWhiteSpace: Bool {
        self == UInt8(ascii: " ") || (0x09...0x0D).contains(self)
    }
}

extension Int64 {
    /// The quotient rounded down, also below zero.
    func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
