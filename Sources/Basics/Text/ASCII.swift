extension UInt8 {
    /// Whether the byte is an ASCII digit.
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is an ASCII letter or digit.
    @inlinable package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte is a space, tab, line feed, vertical tab, form feed or carriage return.
    @inlinable package var isASCIIWhiteSpace: Bool {
        self == UInt8(ascii: " ") || (0x09...0x0D).contains(self)
    }

    /// Whether the byte is a space or a tab, which are HTTP's white space within a line (RFC 9110, 5.6.3).
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether the byte may be part of an HTTP token, such as a method or a header's name (RFC 9110, 5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: isLetterOrDigit
        }
    }

    /// The byte, converted to lower case if it is an upper-case ASCII letter.
    @inlinable package var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without spaces and tabs at either end.
    @inlinable package func trimmingBlanks() -> Self {
        var rest = drop(while: \.isBlank)
        while rest.last?.isBlank == true { rest.removeLast() }
        return rest
    }
}
