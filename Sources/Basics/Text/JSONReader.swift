/// Reads one complete JSON text (RFC 8259) in UTF-8.
struct JSONReader {
    private let bytes: [UInt8]
    private var next = 0
    private var depth = 0
    private var values = 0
    private let valueLimit: Int
    /// Where each value is, by its path such as `routes[0].path`; `nil` unless that is asked for. A member begins at
    /// its name. A value that could not be read has no bytes.
    private(set) var places: [String: Range<Int>]?
    /// The path of the value that is read.
    private var path = ""

    init(_ bytes: ArraySlice<UInt8>, valueLimit: Int, notesPlaces: Bool = false) {
        (self.bytes, self.valueLimit, places) = (Array(bytes), valueLimit, notesPlaces ? [:] : nil)
    }

    mutating func readDocument() throws(JSONError) -> [JSONName: JSONValue] {
        _ = take("\u{FEFF}")
        skipWhiteSpace()
        let value = try readValue(expected: "an object")
        skipWhiteSpace()
        guard next == bytes.count else { throw malformed("the end") }
        guard case .object(let members) = value else { throw .notAnObject(found: value.shown) }
        return members
    }

    private mutating func readValue(expected: String) throws(JSONError) -> JSONValue {
        values += 1
        guard values <= valueLimit else { throw .tooManyValues(limit: valueLimit) }
        switch byte {
        case UInt8(ascii: "{"):
            return .object(try nested { (reader) throws(JSONError) in try reader.readMembers() })
        case UInt8(ascii: "["):
            return .list(try nested { (reader) throws(JSONError) in try reader.readItems() })
        case UInt8(ascii: "\""): return .text(try readText())
        case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return .number(try readNumber())
        case _ where take("true"): return .boolean(true)
        case _ where take("false"): return .boolean(false)
        case _ where take("null"): return .null
        default: throw malformed(expected)
        }
    }

    /// Reads what is inside a pair of brackets. The next byte must be the opening one.
    private mutating func nested<Value>(
        _ read: (inout Self) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        depth += 1
        guard depth <= StrictJSON.depthLimit else { throw .tooDeep }
        next += 1
        let value = try read(&self)
        depth -= 1
        return value
    }

    private mutating func readMembers() throws(JSONError) -> [JSONName: JSONValue] {
        var members: [JSONName: JSONValue] = [:]
        skipWhiteSpace()
        if take("}") { return members }
        repeat {
            skipWhiteSpace()
            let offset = next
            guard byte == UInt8(ascii: "\"") else { throw malformed("a name in quotes") }
            let name = try readText()
            skipWhiteSpace()
            guard take(":") else { throw malformed("':'") }
            skipWhiteSpace()
            let outer = path
            if places != nil { note((outer.isEmpty ? "" : outer + ".") + JSONName(name).step, offset) }
            let value = try readValue(expected: "a value")
            noteEnd(outer, offset)
            guard members.updateValue(value, forKey: JSONName(name)) == nil else {
                throw .duplicate(name: name, offset: offset)
            }
            skipWhiteSpace()
        } while take(",")
        guard take("}") else { throw malformed("',' or '}'") }
        return members
    }

    private mutating func readItems() throws(JSONError) -> [JSONValue] {
        var items: [JSONValue] = []
        skipWhiteSpace()
        if take("]") { return items }
        repeat {
            skipWhiteSpace()
            let (outer, offset) = (path, next)
            if places != nil { note("\(outer)[\(items.count)]", offset) }
            items.append(try readValue(expected: "a value"))
            noteEnd(outer, offset)
            skipWhiteSpace()
        } while take(",")
        guard take("]") else { throw malformed("',' or ']'") }
        return items
    }

    private mutating func note(_ path: String, _ offset: Int) {
        self.path = path
        places?[path] = offset..<offset
    }

    /// Notes that the value of the current path ends here, and goes back to the path `outer`.
    private mutating func noteEnd(_ outer: String, _ offset: Int) {
        places?[path] = offset..<next
        path = outer
    }

    /// Reads a string. A string without escapes, as tokens are, is copied in one piece.
    private mutating func readText() throws(JSONError) -> String {
        next += 1
        guard let end = bytes[next...].position(of: UInt8(ascii: "\"")) else {
            next = bytes.count
            throw malformed("the closing quote of a string")
        }
        let plain = bytes[next..<end]
        guard plain.position(of: UInt8(ascii: "\\")) == nil, plain.allSatisfy({ $0 >= 0x20 }) else {
            return try readEscapedText()
        }
        next = end + 1
        return String(decoding: plain, as: UTF8.self)
    }

    private mutating func readEscapedText() throws(JSONError) -> String {
        var text: [UInt8] = []
        while let byte, byte >= 0x20 {
            next += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try readEscape(into: &text)
            default: text.append(byte)
            }
        }
        throw malformed("no control character in a string, and a quote at its end")
    }

    /// Reads an escape, whose backslash has already been read, and adds its character to `text`.
    private mutating func readEscape(into text: inout [UInt8]) throws(JSONError) {
        let letter = byte
        next += 1
        switch letter {
        // Unreached: The switch has found a letter there already; the default only satisfies the type.
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter ?? 0)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        // Unreached: Each Unicode scalar has an encoding; the default only satisfies the type.
        case UInt8(ascii: "u"): text.append(contentsOf: UTF8.encode(try readScalar()) ?? .init())
        default:
            next -= 1
            throw malformed("an escape")
        }
    }

    /// Reads the four hex digits of a `\u` escape, and the second escape of a surrogate pair.
    private mutating func readScalar() throws(JSONError) -> Unicode.Scalar {
        var value = try readHexadecimal()
        if (0xD800...0xDBFF).contains(value), take("\\u") {
            let low = try readHexadecimal()
            guard (0xDC00...0xDFFF).contains(low) else {
                throw malformed("the other half of a surrogate pair before this")
            }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard value > 0, let scalar = Unicode.Scalar(value) else {
            throw malformed("a valid Unicode escape before this (not NUL, not a lone surrogate)")
        }
        return scalar
    }

    private mutating func readHexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = byte.flatMap(Hexadecimal.value(of:)) else { throw malformed("four hex digits") }
            value = value << 4 | UInt32(digit)
            next += 1
        }
        return value
    }

    /// Reads a number (RFC 8259, 6).
    private mutating func readNumber() throws(JSONError) -> Double {
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

    private mutating func readDigits() throws(JSONError) {
        let begin = next
        while let byte, byte.isDigit { next += 1 }
        guard next > begin else { throw malformed("a digit") }
    }

    /// The next byte; `nil` at the end of the text.
    private var byte: UInt8? { next < bytes.count ? bytes[next] : nil }

    private mutating func take(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard count <= bytes.count - next else { return false }
        for position in 0..<count where bytes[next + position] != literal.utf8Start[position] { return false }
        next += count
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { next += 1 }
    }

    private func malformed(_ expected: String) -> JSONError { .malformed(offset: next, expected: expected) }
}
