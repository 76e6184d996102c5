internal import TextEncodings

/// One setting of a kind of grants: an option of `media-token grant`, a name in the configuration of a route, or both.
package struct GrantSetting: Sendable {
    package enum Value: Sendable {
        /// A text; the placeholder stands for it in `--help`.
        case text(String)
        /// One of these words.
        case word([String])
        /// Several texts.
        case list(String)
        /// The name of a file whose one line is a secret.
        case secretFile
        /// Present or not.
        case flag
    }

    /// Where a setting stands in `--help`.
    package enum Topic: String, Sendable, CaseIterable {
        case key = "Key:"
        case scope = "What it opens:"
        case time = "When:"
        case form = "In which form:"
    }

    /// Where a setting may be given.
    package enum Place: Sendable {
        case command, file, both
    }

    package let name: String
    package let value: Value
    package let topic: Topic
    package let help: String
    /// Whether the configuration must have it.
    package let isRequired: Bool
    /// Whether `media-token grant check` takes the option for any kind, since it describes the request.
    package let isQuestion: Bool
    /// Why a text is not accepted; `nil` if it is.
    package let problem: @Sendable (String) -> String?
    private let place: Place

    init(
        _ name: String, _ value: Value, _ topic: Topic, _ help: String, in place: Place = .both,
        isRequired: Bool = false, isQuestion: Bool = false,
        problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        (self.name, self.value, self.topic, self.help) = (name, value, topic, help)
        (self.place, self.isRequired, self.isQuestion, self.problem) = (place, isRequired, isQuestion, problem)
    }

    package var isOption: Bool { place != .file }
    package var isInFile: Bool { place != .command }
}

/// The settings of one grant, with the secrets that they name. It shows the secrets to nobody.
package struct GrantValues: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private var texts: [String: [String]] = [:]
    private var secrets: [String: [UInt8]] = [:]

    package init() {}

    /// The one text of a setting; `nil` if it is not given.
    package subscript(name: String) -> String? {
        get { texts[name]?.first }
        set { texts[name] = newValue.map { [$0] } }
    }

    /// All texts of a setting; empty if it is not given.
    package func all(_ name: String) -> [String] { texts[name] ?? [] }

    package mutating func set(_ name: String, to values: [String]) { texts[name] = values }

    /// Whether the setting is given.
    package func has(_ name: String) -> Bool { texts[name] != nil }

    /// The text of a setting that must be given.
    package func required(_ name: String, _ expected: String) throws(GrantProblem) -> String {
        guard let value = self[name] else { throw GrantProblem(name, "is missing; expected \(expected)") }
        return value
    }

    /// The key of the grants.
    package var key: [UInt8] {
        get { secrets["key"] ?? [] }
        set { secrets["key"] = newValue }
    }

    /// The secret in the file that a setting names; `nil` if the setting is not given.
    package func secret(_ name: String) -> [UInt8]? { secrets[name] }

    package mutating func setSecret(_ name: String, to bytes: [UInt8]) { secrets[name] = bytes }

    /// Says nothing of the values.
    package var description: String { "(values withheld)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
