package import Basics

/// The form of a setting's value in a configuration file.
package enum SettingForm: Sendable {
    /// A string. The pattern is a regular expression (ECMA 262), which the whole string must match; `nil` for any
    /// string.
    case text(pattern: String? = nil)
    /// An array of strings, or one string. The pattern is for each of them.
    case texts(pattern: String? = nil, mayBeEmpty: Bool = false)
    case number(ClosedRange<Int>)
    case flag
    case word([String])
    /// An object with an array of strings for each name, or an array of strings `NAME=ITEM`.
    case lists
    /// An array of objects with the members of a JSON Schema.
    case objects(JSONValue)
    /// An object with the members of a JSON Schema.
    case object(JSONValue)

    /// Whether a command line may give the setting several times.
    package var isRepeatable: Bool {
        switch self {
        case .texts, .lists, .objects: true
        case .text, .number, .flag, .word, .object: false
        }
    }

    /// The JSON type of the value, in words.
    package var name: String {
        switch self {
        case .text, .word: "string"
        case .texts: "string or array of strings"
        case .number: "number"
        case .flag: "true or false"
        case .lists: "object of arrays, or array of strings"
        case .objects: "array of objects"
        case .object: "object"
        }
    }

    /// The JSON Schema (draft 2020-12) of the values that have this form.
    package var schema: [JSONName: JSONValue] {
        switch self {
        case .text(let pattern): return Self.string(pattern)
        case .texts(let pattern, let mayBeEmpty):
            let one = JSONValue.object(Self.string(pattern))
            let several: JSONValue = [
                "type": "array", "items": one, "minItems": .number(mayBeEmpty ? 0 : 1),
            ]
            return ["oneOf": .list([one, several])]
        case .number(let range):
            return [
                "type": "integer", "minimum": .number(Double(range.lowerBound)),
                "maximum": .number(Double(range.upperBound)),
            ]
        case .flag: return ["type": "boolean"]
        case .word(let words): return ["enum": .list(words.map { .text($0) })]
        case .lists:
            let one: JSONValue = ["type": "string", "minLength": 1]
            let list: JSONValue = ["oneOf": [one, ["type": "array", "minItems": 1, "items": one]]]
            let pair: JSONValue = ["type": "string", "pattern": "^[^=]+=.+$"]
            let pairs: JSONValue = ["type": "array", "minItems": 1, "items": pair]
            return ["oneOf": [["type": "object", "minProperties": 1, "additionalProperties": list], pairs, pair]]
        case .objects(let schema): return ["type": "array", "items": schema]
        case .object(.object(let schema)): return schema
        case .object: return ["type": "object"]
        }
    }

    private static func string(_ pattern: String?) -> [JSONName: JSONValue] {
        guard let pattern else { return ["type": "string"] }
        return ["type": "string", "pattern": .text("^(?:\(pattern))$")]
    }
}
