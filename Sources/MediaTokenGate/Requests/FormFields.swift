internal import Basics

/// The name-value pairs of a query or a form; values stay encoded (WHATWG URL, `application/x-www-form-urlencoded`).
struct FormFields {
    static let pairLimit = 256

    /// Whether there are more pairs than are read.
    let isTooLong: Bool
    /// Whether all pairs were read and all their names can be decoded.
    let isWhole: Bool
    /// The decoded names, and the values as they were sent.
    private let fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]
    /// The byte that a `+` in a form represents.
    private static let space = UInt8(ascii: " ")

    /// Splits `text`, which must be the query or the form without anything around it.
    init(_ text: ArraySlice<UInt8>) {
        var (fields, pairs, isWhole) = ([(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)](), 0, true)
        for (name, value) in FormPairs(text) {
            pairs += 1
            guard pairs <= Self.pairLimit else { break }
            if let name = Self.decodedName(name) { fields.append((name, value)) } else { isWhole = false }
        }
        isTooLong = pairs > Self.pairLimit
        self.fields = fields
        self.isWhole = isWhole && !isTooLong
    }

    /// The fields of a query or a form, of which all must be readable.
    ///
    /// - Parameter part: What `text` is, for error messages.
    static func whole(_ text: ArraySlice<UInt8>, of part: String) throws(RequestError) -> FormFields {
        let fields = FormFields(text)
        guard fields.isWhole else {
            throw .invalid(
                fields.isTooLong
                    ? "the \(part) has more than \(pairLimit) fields"
                    : "a field name of the \(part) cannot be decoded; expected UTF-8")
        }
        return fields
    }

    private static func decodedName(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if name.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }) { return name }
        return String(percentEncoded: name, plus: space).map { Array($0.utf8)[...] }
    }

    /// The values of `name` as they were sent; the library decodes wrapped tokens.
    func encoded(_ name: String) -> [ArraySlice<UInt8>] {
        fields.compactMap { $0.name.isSame(as: name) ? $0.value : nil }
    }

    /// The decoded values of `name`. A value is `nil` if it cannot be decoded.
    func decoded(_ name: String) -> [String?] {
        encoded(name).map { String(percentEncoded: $0, plus: Self.space) }
    }
}
