internal import Basics

/// An escape of JSON, JavaScript, Python, Swift or C: `\"`, `\n`, `\u003c`, `\u{3c}`, `\x3c`, `\074`.
enum BackslashEscape {
    /// The length of the longest escape, a surrogate pair.
    static let longest = 12

    /// Decodes the escape at the beginning of `text`. A backslash that begins none stands for itself.
    static func read(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int) {
        guard let letter = text.dropFirst().first else { return (Array(text.prefix(1)), 1) }
        switch letter {
        case UInt8(ascii: "n"): return ([0x0A], 2)
        case UInt8(ascii: "r"): return ([0x0D], 2)
        case UInt8(ascii: "t"): return ([0x09], 2)
        case UInt8(ascii: "u"):
            guard let high = hexadecimal(text.dropFirst(2), digits: 4) else { return braced(text) ?? ([letter], 2) }
            guard (0xD800..<0xDC00).contains(high), text.dropFirst(6).starts(with: "\\u".utf8),
                let low = hexadecimal(text.dropFirst(8), digits: 4), (0xDC00..<0xE000).contains(low)
            else { return (encoded(high), 6) }
            return (encoded(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)), 12)
        case UInt8(ascii: "x"):
            guard let value = hexadecimal(text.dropFirst(2), digits: 2) else { return ([letter], 2) }
            // Servers and Python write the bytes of UTF-8 so, one by one.
            return ([UInt8(value)], 4)
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            let digits = text.dropFirst().prefix(3).prefix { (0x30...0x37).contains($0) }
            guard digits.count == 3 else { return ([letter], 2) }
            return ([digits.reduce(0) { $0 << 3 | ($1 - 0x30) }], 4)
        default: return ([letter], 2)
        }
    }

    /// Decodes `\u{3c}`, as Swift, Rust and JavaScript write it; `nil` if `text` does not begin with that.
    private static func braced(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int)? {
        let digits = text.dropFirst(3).prefix(6).prefix { $0 != UInt8(ascii: "}") }
        guard text.dropFirst(2).first == UInt8(ascii: "{"), text[digits.endIndex...].first == UInt8(ascii: "}"),
            let value = hexadecimal(digits, digits: digits.count)
        else { return nil }
        return (encoded(value), digits.count + 4)
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>, digits: Int) -> UInt32? {
        let values = text.prefix(digits).compactMap(Hexadecimal.value)
        return values.count == digits ? values.reduce(0) { $0 << 4 | UInt32($1) } : nil
    }

    private static func encoded(_ value: UInt32) -> [UInt8] {
        Array(String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
    }
}

/// An escape of HTML or XML: `&lt;`, `&#60;`, `&#x3c;`.
enum EntityEscape {
    private static let longest = 12
    private static let named: [(name: StaticString, character: UInt8)] = [
        ("lt", 0x3C), ("gt", 0x3E), ("amp", 0x26), ("quot", 0x22), ("apos", 0x27), ("nbsp", 0x20),
    ]

    /// Decodes the reference at the beginning of `text`. An ampersand that begins none stands for itself.
    static func read(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int) {
        guard let end = text.prefix(longest).position(of: UInt8(ascii: ";")) else { return (Array(text.prefix(1)), 1) }
        let (name, length) = (text[..<end].dropFirst(), end + 1 - text.startIndex)
        if let known = named.first(where: { name.isSame(as: $0.name) }) { return ([known.character], length) }
        guard let number = name.dropping("#") else { return (Array(text.prefix(1)), 1) }
        let hexadecimal = number.dropping("x") ?? number.dropping("X")
        let digits = String(decoding: hexadecimal ?? number, as: UTF8.self)
        guard let value = UInt32(digits, radix: hexadecimal == nil ? 10 : 16), let scalar = Unicode.Scalar(value) else {
            return (Array(text.prefix(1)), 1)
        }
        return (Array(String(scalar).utf8), length)
    }
}

/// A percent escape (RFC 3986), or one of quoted-printable (RFC 2045), which differs in its first character and has
/// soft line breaks.
enum HexEscape {
    static func read(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int) {
        // JavaScript's escape() writes `%u003C`, as JSON writes `\u003C`.
        if text.dropFirst().first == UInt8(ascii: "u") {
            let escape = BackslashEscape.read(text)
            if escape.length > 2 { return escape }
        }
        let digits = text.dropFirst().prefix(2).compactMap(Hexadecimal.value)
        guard digits.count == 2 else { return (Array(text.prefix(1)), 1) }
        return ([digits[0] << 4 | digits[1]], 3)
    }

    /// Decodes as ``read(_:)`` does, and drops a line break that quoted-printable put in.
    static func readQuotedPrintable(_ text: ArraySlice<UInt8>) -> (text: [UInt8], length: Int) {
        let rest = text.dropFirst()
        if rest.first == 0x0A { return ([], 2) }
        if rest.starts(with: [0x0D, 0x0A]) { return ([], 3) }
        return read(text)
    }
}
