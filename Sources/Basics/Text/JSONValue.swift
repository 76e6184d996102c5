/// A JSON value of any type.
package enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([JSONName: JSONValue])

    /// A short description of the value, for a message.
    package var shown: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): "\(flag)"
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .text(let text): "'\(printable(text))'"
        case .list: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int) { self = .number(Double(number)) }
    package init(arrayLiteral items: JSONValue...) { self = .list(items) }
    package init(dictionaryLiteral members: (JSONName, JSONValue)...) {
        self = .object(members.reduce(into: [:]) { $0[$1.0] = $1.1 })
    }

    /// The value on one line, with the members of each object in alphabetical order. What a terminal would obey is
    /// escaped.
    package var line: String { printable(json: compact) }

    private var compact: String {
        switch self {
        case .null, .boolean, .number, .text: return document
        case .list(let items): return "[\(items.map(\.compact).joined(separator: ","))]"
        case .object(let members):
            let texts = members.map { ($0.key.text, $0.value.compact) }.sorted { $0.0 < $1.0 }
            return "{\(texts.map { "\(Self.quoted($0.0)):\($0.1)" }.joined(separator: ","))}"
        }
    }

    /// The value as a document for people: indented, with the members of each object in alphabetical order.
    package var document: String { document(indent: "") }

    private func document(indent: String) -> String {
        let inner = indent + "  "
        switch self {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .number(let number):
            if let whole = Int(exactly: number) { return "\(whole)" }
            // Unreached: JSON has no infinity (RFC 8259, 6); only a figure of a load test could be one.
            guard number.isFinite else { return "null" }
            return "\(number)"
        case .text(let text): return Self.quoted(text)
        case .list(let items):
            let texts = items.map { $0.document(indent: inner) }
            let isShort = texts.allSatisfy { !$0.contains("\n") } && texts.reduce(0) { $0 + $1.count } < 80
            if isShort { return "[\(texts.joined(separator: ", "))]" }
            return "[\n" + texts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let texts = members.map { ($0.key.text, $0.value.document(indent: inner)) }.sorted { $0.0 < $1.0 }
            return "{\n" + texts.map { "\(inner)\(Self.quoted($0.0)): \($0.1)" }.joined(separator: ",\n")
                + "\n\(indent)}"
        }
    }

    /// A string with its escapes (RFC 8259, 7).
    private static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n": "\\n"
            case ..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: "\(scalar)"
            }
        }
        return "\"\(scalars.joined())\""
    }
}

/// The name of a member, which is compared by its bytes. As a `String`, the Kelvin sign would equal a K, and comparing
/// a name of ten thousand accents would take a second.
package struct JSONName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    /// The name as a part of a path such as `routes[0].path`.
    package var step: String { text.isEmpty ? "''" : printable(text) }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

/// A JSON object and its position in the document. A member that is `null` counts as missing.
package struct JSONObject: Sendable {
    package let members: [JSONName: JSONValue]
    private let place: String

    init(_ members: [JSONName: JSONValue], at place: String) {
        (self.members, self.place) = (members, place)
    }

    /// The string in the member `name`; `nil` if there is no such member.
    package func text(_ name: String) throws(JSONError) -> String? {
        try member(name, "a string") { if case .text(let text) = $0 { text } else { nil } }
    }

    package func flag(_ name: String) throws(JSONError) -> Bool? {
        try member(name, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    package func object(_ name: String) throws(JSONError) -> JSONObject? {
        try member(name, "an object") { Self($0, at: below(name)) }
    }

    package func objects(_ name: String) throws(JSONError) -> [JSONObject]? {
        try member(name, "an array of objects") { value in
            guard case .list(let list) = value else { return nil }
            let objects = list.enumerated().compactMap { Self($1, at: "\(below(name))[\($0)]") }
            return objects.count == list.count ? objects : nil
        }
    }

    package func requiredText(_ name: String) throws(JSONError) -> String {
        guard let text = try text(name) else { throw .missing(place: below(name)) }
        return text
    }

    package func requiredFlag(_ name: String) throws(JSONError) -> Bool {
        guard let flag = try flag(name) else { throw .missing(place: below(name)) }
        return flag
    }

    private init?(_ value: JSONValue, at place: String) {
        guard case .object(let members) = value else { return nil }
        self.init(members, at: place)
    }

    private func below(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    private func member<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(JSONError) -> Value? {
        guard let value = members[JSONName(name)], value != .null else { return nil }
        guard let read = read(value) else { throw .otherType(place: below(name), expected: expected) }
        return read
    }
}
