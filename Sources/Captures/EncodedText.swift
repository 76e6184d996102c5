internal import TextEncodings

/// A text in Base64 or hexadecimal digits within another text, also where it is wrapped, or escaped itself.
struct EncodedText {
    enum Encoding: String {
        case base64 = "Base64"
        case hexadecimal = "hex"
    }

    let encoding: Encoding
    let decoded: [UInt8]
    /// The position in the other text up to which it goes.
    let end: Int

    /// The digits that a token in Base64 begins with: those of `<signatureInfo`.
    static let marker: StaticString = "PHNpZ25hdHVyZUluZm8"

    /// The position of a token's first digits in a run of digits; `nil` if there are none.
    static func marker(in run: ArraySlice<UInt8>) -> Int? {
        var rest = run
        while let letter = rest.position(of: marker.utf8Start[0]) {
            rest = rest[letter...]
            if rest.begins(with: marker) { return letter }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The number of digits that show whether there is text in them.
    private static let sample = 64
    private static let shortestHexadecimal = 48

    /// - Parameter text: begins with the first digit.
    init?(in text: ArraySlice<UInt8>) {
        let run = text.prefix { Hexadecimal.value(of: $0) != nil }
        let afterRun = text[run.endIndex...].first
        if run.count >= Self.shortestHexadecimal, run.count.isMultiple(of: 2), !(afterRun?.isLetterOrDigit ?? false) {
            let bytes = HexDigits.bytes(of: run)
            guard Self.isText(bytes.prefix(Self.sample)) else { return nil }
            (encoding, decoded, end) = (.hexadecimal, bytes, run.endIndex)
            return
        }
        var digits = Base64Digits(text[...])
        guard digits.take(Self.sample), let head = digits.decoded, Self.isText(head[...]) else { return nil }
        digits.take(.max)
        guard let bytes = digits.decoded else { return nil }
        (encoding, decoded, end) = (.base64, bytes, digits.rest.startIndex)
    }

    /// Whether bytes are likely the beginning of a text: they have no control characters, and few that are not ASCII; or they
    /// begin as UTF-16 or gzip.
    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        if Inflation.unpacks(bytes) || UTF16Recoder(beginning: bytes) != nil { return true }
        let strange = bytes.count { $0 >= 0x7F }
        return !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 || $0.isASCIIWhiteSpace } && strange * 4 <= bytes.count
    }
}

/// Collects the digits of one Base64 text, in either alphabet, from a text that may have wrapped or escaped it.
private struct Base64Digits {
    /// What was not taken yet.
    private(set) var rest: ArraySlice<UInt8>
    private var digits: [UInt8] = []
    /// The number of digits on the line so far, and on the line before.
    private var onLine = 0
    private var lineLength: Int?
    private var isAtEnd = false

    /// The shortest line that wrapped Base64 has. PEM has 64 digits on a line, MIME 76.
    private static let shortestLine = 32

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// The bytes of all complete groups of digits taken so far.
    var decoded: [UInt8]? {
        let groups = isAtEnd ? digits[...] : digits.prefix(digits.count / 4 * 4)
        if let bytes = try? Base64.decode(groups, alphabet: .standard, padding: .forbidden) { return bytes }
        // The last group of a text that was cut is not complete.
        return try? Base64.decode(digits.prefix(digits.count / 4 * 4), alphabet: .standard, padding: .forbidden)
    }

    /// Takes digits up to the end of the Base64 text, or until there are `limit`.
    ///
    /// - Returns: Whether there were that many.
    @discardableResult
    mutating func take(_ limit: Int) -> Bool {
        while digits.count < limit, !isAtEnd {
            let run = rest.prefix(limit - digits.count).prefix { $0.isLetterOrDigit }
            digits += run
            onLine += run.count
            rest = rest[run.endIndex...]
            if digits.count < limit { isAtEnd = !takeSpecial() }
        }
        return digits.count >= limit || isAtEnd
    }

    /// Takes what may stand between letters: one of the other two digits, escaped or not, or a line break.
    ///
    /// - Returns: Whether the Base64 text can go on.
    private mutating func takeSpecial() -> Bool {
        guard let byte = rest.first else { return false }
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"): return add("+", 1)
        case UInt8(ascii: "/"), UInt8(ascii: "_"): return add("/", 1)
        case UInt8(ascii: "%"):
            var escape = rest.dropFirst()
            while escape.begins(with: "25") { escape = escape.dropFirst(2) }
            let length = escape.startIndex + 2 - rest.startIndex
            switch escape.prefix(2).map(\.asciiLowercased) {
            case Array("2b".utf8): return add("+", length)
            case Array("2f".utf8): return add("/", length)
            case Array("3d".utf8):
                rest = rest.dropFirst(length)
                return takePadding()
            default: return false
            }
        case UInt8(ascii: "="):
            rest = rest.dropFirst()
            return takePadding()
        case UInt8(ascii: "\\") where rest.begins(with: "\\/"): return add("/", 2)
        default: return takeLineBreak()
        }
    }

    private mutating func add(_ digit: Unicode.Scalar, _ length: Int) -> Bool {
        digits.append(UInt8(ascii: digit))
        onLine += 1
        rest = rest.dropFirst(length)
        return true
    }

    /// Takes what is left of the padding. A sign in the middle of a group is a soft line break of quoted-printable.
    private mutating func takePadding() -> Bool {
        if digits.count.isMultiple(of: 4) || digits.count % 4 == 1 { return takeLineBreak() }
        while let escape = ["=", "%3D", "%3d", "%253D", "%253d"].first(where: { rest.starts(with: $0.utf8) }) {
            rest = rest.dropFirst(escape.utf8.count)
        }
        return false
    }

    /// Takes a line break with what is around it, if the next line continues this one: it is as long, or shorter and the last.
    private mutating func takeLineBreak() -> Bool {
        var next = rest.drop(while: \.isBlank)
        let breaks = ["\r\n", "\n", "\\r\\n", "\\n", "&#13;\n", "&#xD;\n", "&#10;"]
        guard let found = breaks.first(where: { next.starts(with: $0.utf8) }) else { return false }
        next = next.dropFirst(found.utf8.count).drop(while: \.isBlank)
        while next.begins(with: "> ") { next = next.dropFirst(2) }
        let line = next.prefix { $0.isLetterOrDigit || "+/-_=".utf8.contains($0) }
        let longest = lineLength ?? onLine
        guard onLine >= Self.shortestLine, onLine == longest, !line.isEmpty, line.count <= longest,
            !line.begins(with: EncodedText.marker), Self.isEnd(next[line.endIndex...])
        else { return false }
        (lineLength, onLine, rest) = (longest, 0, next)
        return true
    }

    /// Whether a line of digits may end before `text`: it goes on with a line break, a quote, an element or nothing.
    private static func isEnd(_ text: ArraySlice<UInt8>) -> Bool {
        guard let byte = text.first else { return true }
        return byte.isASCIIWhiteSpace || "\"'<\\)&,;}]%".utf8.contains(byte)
    }
}
