/// A strict JSON parser (RFC 8259), which rejects anything that two parsers might read differently: a name given twice
/// in one object, any encoding but UTF-8, half of a surrogate pair, NUL, and a number that a double cannot hold. A byte
/// order mark before the document is passed over (RFC 8259, 8.1).
///
/// The work is bounded for any input: nesting and the number of values are limited, and a document is read once, from
/// front to back.
package enum StrictJSON {
    package static let depthLimit = 16
    /// The default limit on the number of values in a document. A decision from Adobe has about twelve.
    package static let valueLimit = 256
    /// The maximum length of a number in bytes.
    static let numberLimit = 32

    /// Reads a document that consists of one object; only white space may surround it.
    package static func readObject(
        _ text: ArraySlice<UInt8>, valueLimit: Int = valueLimit
    ) throws(JSONError) -> JSONObject {
        let isUTF8 = text.withUnsafeBufferPointer { (try? UTF8Span(validating: $0.span)) != nil }
        guard isUTF8 else { throw .notUTF8 }
        var reader = JSONReader(text, valueLimit: valueLimit)
        return JSONObject(try reader.readDocument(), at: "")
    }

    /// Where values of a document begin, as an editor counts: `LINE:COLUMN` of each path such as `routes[0].path`. A
    /// path that the document does not have stands where the value does that it would be a part of.
    package static func positions(of paths: [String], in text: [UInt8], valueLimit: Int = valueLimit) -> [String?] {
        let places = places(in: text, valueLimit: valueLimit)
        return paths.map { path in
            var known = path[...]
            while !known.isEmpty {
                if let place = places[String(known)] { return JSONError.place(place.lowerBound, text) }
                known = known[..<(known.lastIndex { ".[".contains($0) } ?? known.startIndex)]
            }
            return nil
        }
    }

    /// Where each value of a document is, by its path such as `routes[0].path`. A member begins at its name.
    package static func places(in text: [UInt8], valueLimit: Int = valueLimit) -> [String: Range<Int>] {
        var reader = JSONReader(text[...], valueLimit: valueLimit, notesPlaces: true)
        _ = try? reader.readDocument()
        // Unreached: The reader notes places; the default only satisfies the type.
        return reader.places ?? [:]
    }
}

/// Why a document is refused, or a member of it is not as expected.
package enum JSONError: Error, Equatable, Sendable {
    case notUTF8
    case tooDeep
    case tooManyValues(limit: Int)
    /// The text is not JSON at this offset, in bytes from 0, where `expected` should have been.
    case malformed(offset: Int, expected: String)
    case notAnObject(found: String)
    case duplicate(name: String, offset: Int)
    case missing(place: String)
    case otherType(place: String, expected: String)

    /// Where and what is wrong, as the end of a line that begins with the name of the file: line and column from 1, as
    /// editors count them.
    package func reason(in text: [UInt8]) -> String {
        switch self {
        case .malformed(let offset, let expected): "\(Self.place(offset, text)): expected \(expected)"
        case .duplicate(let name, let offset): "\(Self.place(offset, text)): '\(printable(name))' is given twice"
        default: " \(reason)"
        }
    }

    fileprivate static func place(_ offset: Int, _ text: [UInt8]) -> String {
        let before = text.prefix(offset)
        let begin = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // A column is a character, not a byte.
        let column = before[begin...].count { $0 & 0xC0 != 0x80 } + 1
        return "\(before.count { $0 == 0x0A } + 1):\(column)"
    }

    /// What is wrong, as the end of a line that begins with the name of the document.
    package var reason: String {
        switch self {
        case .notUTF8: "it is not UTF-8"
        case .tooDeep: "it is nested deeper than \(StrictJSON.depthLimit) levels"
        case .tooManyValues(let limit): "it has more than \(limit) values"
        case .malformed(let offset, let expected): "it is malformed at byte \(offset): expected \(expected)"
        case .notAnObject(let found): "it is \(found); expected an object"
        case .duplicate(let name, let offset): "'\(printable(name))' is given twice, again at byte \(offset)"
        case .missing(let place): "'\(printable(place))' is missing"
        case .otherType(let place, let expected):
            "'\(printable(place))' has another type than expected: \(expected)"
        }
    }
}
