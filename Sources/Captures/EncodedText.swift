internal import Basics

/// A text in Base64 or hexadecimal digits: a run of digits of another text.
struct EncodedText {
    /// The encoding, as a way names it.
    let name: String
    let decoded: [UInt8]

    static let base64Name = "Base64"

    /// The digits that a token in Base64 begins with: those of `<signatureInfo`.
    private static let marker = Array("PHNpZ25hdHVyZUluZm8".utf8)

    /// The position of a token's first digits in a run of digits; `nil` if there are none.
    static func marker(in run: ArraySlice<UInt8>) -> Int? { run.firstRange(of: marker)?.lowerBound }

    /// The number of digits that show whether there is text in them.
    private static let sample = 64
    private static let shortestHexadecimal = 48

    /// Decodes a run of digits; `nil` if they do not encode a text.
    init?(_ run: ArraySlice<UInt8>) {
        // As databases write bytes: 0x3c73, \\x3c73.
        let digits = run.dropping("0x") ?? run.dropping("x") ?? run
        if digits.count >= Self.shortestHexadecimal, let bytes = HexDigits.bytes(of: digits) {
            guard Self.isText(bytes.prefix(Self.sample)) else { return nil }
            (name, decoded) = ("hex", bytes)
            return
        }
        guard let head = Self.base64(run.prefix(Self.sample)), Self.isText(head[...]), let bytes = Self.base64(run)
        else { return nil }
        (name, decoded) = (Self.base64Name, bytes)
    }

    /// The bytes of digits in either alphabet. The last group of a text that was cut is not complete.
    private static func base64(_ run: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = run.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        let whole = try? Base64.decode(digits[...], alphabet: .standard, padding: .forbidden)
        return whole
            ?? (try? Base64.decode(digits.prefix(digits.count / 4 * 4), alphabet: .standard, padding: .forbidden))
    }

    /// Whether bytes are likely the beginning of a text: they have no control characters, and few that are not ASCII;
    /// or they begin as UTF-16 or gzip.
    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        if Inflation.unpacks(bytes) || UTF16Recoder(beginning: bytes) != nil { return true }
        let strange = bytes.count { $0 >= 0x7F }
        return !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 || $0.isASCIIWhiteSpace } && strange * 4 <= bytes.count
    }
}

/// Hexadecimal digits of bytes, with nothing between them.
enum HexDigits {
    /// The bytes; `nil` if the text is anything else.
    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = text.compactMap(Hexadecimal.value)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
