internal import TokenXML

/// Reads one JSON text (RFC 8259), which is UTF-8, from its first byte to its last.
struct JSONReader {
    private let bytes: ArraySlice<UInt8>
    private var next: Int
    private var depth = 0
    private var values = 0
    private let valueLimit: Int

    init(_ bytes: ArraySlice<UInt8>, valueLimit: Int) {
        (self.bytes, next, self.valueLimit) = (bytes, bytes.startIndex, valueLimit)
    }

    mutating func readDocument() throws(StrictJSON.Problem) -> [String: JSONValue] {
        skipWhiteSpace()
        guard case .object(let members) = try readValue(expected: "an object") else { throw malformed("an object") }
        skipWhiteSpace()
        guard next == bytes.endIndex else { throw malformed("the end") }
        return members
    }

    private mutating func readValue(expected: String) throws(StrictJSON.Problem) -> JSONValue {
        values += 1
        guard values <= valueLimit else { throw .tooManyValues(limit: valueLimit) }
        switch byte {
        case UInt8(ascii: "{"):
            return .object(try nested { (reader) throws(StrictJSON.Problem) in try reader.readMembers() })
        case UInt8(ascii: "["):
            return .list(try nested { (reader) throws(StrictJSON.Problem) in try reader.readItems() })
        case UInt8(ascii: "\""): return .text(try readText())
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return .number(try readNumber())
        case _ where take("true"): return .boolean(true)
        case _ where take("false"): return .boolean(false)
        case _ where take("null"): return .null
        default: throw malformed(expected)
        }
    }

    /// Reads what is inside of brackets. The opening one comes next.
    private mutating func nested<Value>(
        _ read: (inout Self) throws(StrictJSON.Problem) -> Value
    ) throws(StrictJSON.Problem) -> Value {
        depth += 1
        guard depth <= StrictJSON.depthLimit else { throw .tooDeep }
        next += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    private mutating func readMembers() throws(StrictJSON.Problem) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        skipWhiteSpace()
        if take("}") { return members }
        repeat {
            skipWhiteSpace()
            let offset = offset
            guard byte == UInt8(ascii: "\"") else { throw malformed("a name in quotes") }
            let name = try readText()
            skipWhiteSpace()
            guard take(":") else { throw malformed("':'") }
            skipWhiteSpace()
            let value = try readValue(expected: "a value")
            // To `String` canonically equivalent names are the same, so of those too there can be one only.
            guard members.updateValue(value, forKey: name) == nil else { throw .duplicate(name: name, offset: offset) }
            skipWhiteSpace()
        } while take(",")
        guard take("}") else { throw malformed("',' or '}'") }
        return members
    }

    private mutating func readItems() throws(StrictJSON.Problem) -> [JSONValue] {
        var items: [JSONValue] = []
        skipWhiteSpace()
        if take("]") { return items }
        repeat {
            skipWhiteSpace()
            items.append(try readValue(expected: "a value"))
            skipWhiteSpace()
        } while take(",")
        guard take("]") else { throw malformed("',' or ']'") }
        return items
    }

    /// Without an escape, as tokens are, a text is copied in one piece.
    private mutating func readText() throws(StrictJSON.Problem) -> String {
        next += 1
        guard let end = bytes[next...].position(of: UInt8(ascii: "\"")) else {
            next = bytes.endIndex
            throw malformed("the closing quote of a text")
        }
        let plain = bytes[next..<end]
        guard plain.position(of: UInt8(ascii: "\\")) == nil, plain.allSatisfy({ $0 >= 0x20 }) else {
            return try readEscapedText()
        }
        next = end + 1
        return String(decoding: plain, as: UTF8.self)
    }

    private mutating func readEscapedText() throws(StrictJSON.Problem) -> String {
        var text: [UInt8] = []
        while let byte, byte >= 0x20 {
            next += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try readEscape()
            default: text.append(byte)
            }
        }
        throw malformed("no control character in a text, and a quote at its end")
    }

    /// The UTF-8 of what an escape stands for. The reversed slash has been taken.
    private mutating func readEscape() throws(StrictJSON.Problem) -> [UInt8] {
        guard let letter = byte else { throw malformed("an escape") }
        if let plain = Self.escapes[letter] {
            next += 1
            return [plain]
        }
        guard take("u") else { throw malformed("an escape") }
        var value = try readHexadecimal()
        if (0xD800...0xDBFF).contains(value), take("\\u") {
            let low = try readHexadecimal()
            guard (0xDC00...0xDFFF).contains(low) else {
                throw malformed("the other half of a surrogate pair before this")
            }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard value > 0, let scalar = Unicode.Scalar(value) else {
            throw malformed("a character before this, neither NUL nor half of a surrogate pair")
        }
        return Array(UTF8.encode(scalar).map(Array.init) ?? [])
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"),
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]

    private mutating func readHexadecimal() throws(StrictJSON.Problem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = byte.flatMap(PercentEncoding.hexadecimal) else { throw malformed("four hex digits") }
            value = value << 4 | UInt32(digit)
            next += 1
        }
        return value
    }

    /// RFC 8259, 6.
    private mutating func readNumber() throws(StrictJSON.Problem) -> Double {
        let begin = next
        _ = take("-")
        if !take("0") { try readDigits() }
        if take(".") { try readDigits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try readDigits()
        }
        let text = bytes[begin..<next]
        guard text.count <= StrictJSON.numberLimit, let number = Double(String(decoding: text, as: UTF8.self)),
            number.isFinite
        else { throw malformed("a number before this that a double can hold, in \(StrictJSON.numberLimit) bytes") }
        return number
    }

    private mutating func readDigits() throws(StrictJSON.Problem) {
        let begin = next
        while let byte, byte.isDigit { next += 1 }
        guard next > begin else { throw malformed("a digit") }
    }

    /// The next one; `nil` at the end.
    private var byte: UInt8? { next < bytes.endIndex ? bytes[next] : nil }

    private var offset: Int { next - bytes.startIndex }

    private mutating func take(_ literal: StaticString) -> Bool {
        guard bytes[next...].begins(with: literal) else { return false }
        next += literal.utf8CodeUnitCount
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { next += 1 }
    }

    private func malformed(_ expected: String) -> StrictJSON.Problem { .malformed(offset: offset, expected: expected) }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
