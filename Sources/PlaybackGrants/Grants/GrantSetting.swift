/// A setting of one kind of playback grant: an option of `media-token grant`, a name in a route's configuration, or
/// both.
package struct GrantSetting: Sendable {
    package enum Value: Sendable {
        /// A text. The associated value is its placeholder in `--help`.
        case text(String)
        /// One of these words.
        case word([String])
        /// Several texts. The associated value is their placeholder in `--help`.
        case list(String)
        /// The name of a file that contains one line, a secret.
        case secretFile
        /// A number of seconds from 1 to a limit.
        case seconds(Duration)
        /// A setting without a value, either present or not.
        case flag
    }

    /// The heading in `--help` under which a setting is listed.
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
    /// Whether a route's configuration must contain the setting.
    package let isRequired: Bool
    /// Whether `media-token grant check` accepts the option for every kind of grant, because it describes the request.
    package let isQuestion: Bool
    /// The reason why a text is not accepted as a value; `nil` if it is accepted.
    package let problem: @Sendable (String) -> String?
    /// The value in the example of a configuration; of a list, its values with spaces between them.
    package let example: String
    private let place: Place

    init(
        _ name: String, _ value: Value, _ topic: Topic, _ help: String, in place: Place = .both,
        isRequired: Bool = false, isQuestion: Bool = false, example: String = "",
        problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        (self.name, self.value, self.topic, self.help) = (name, value, topic, help)
        (self.place, self.isRequired, self.isQuestion, self.problem) = (place, isRequired, isQuestion, problem)
        self.example = example
    }

    /// The address that alone may use the grant.
    static let ip = GrantSetting("ip", .text("ADDRESS"), .scope, "from this address alone", in: .command)
    /// The start of the grant's validity period.
    static let starts = GrantSetting(
        "starts", .text("TIME"), .time, "not before (default: at once)", in: .command)

    package var isOption: Bool { place != .file }
    package var isInFile: Bool { place != .command }
}

/// The settings of one grant, with the secrets that they name. Descriptions and dumps do not show the secrets.
package struct GrantValues: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private var texts: [String: [String]] = [:]
    private var secrets: [String: [UInt8]] = [:]
    /// The keys of the grants, of which the first makes them.
    package var keys: [[UInt8]] = []

    package init() {}

    /// The text of a setting that has only one; `nil` if the setting is not given.
    package subscript(name: String) -> String? {
        get { texts[name]?.first }
        set { texts[name] = newValue.map { [$0] } }
    }

    /// All texts of a setting; empty if the setting is not given.
    package func all(_ name: String) -> [String] { texts[name] ?? [] }

    package mutating func set(_ name: String, to values: [String]) { texts[name] = values }

    /// Whether the setting is given.
    package func has(_ name: String) -> Bool { texts[name] != nil }

    /// The text of a setting that must be given.
    package func required(_ name: String, _ expected: String) throws(GrantError) -> String {
        guard let value = self[name] else { throw GrantError(name, "is missing; expected \(expected)") }
        return value
    }

    /// The key that makes the grants.
    var key: [UInt8] { keys.first ?? [] }

    /// The secret in the file that a setting names; `nil` if the setting is not given.
    package func secret(_ name: String) -> [UInt8]? { secrets[name] }

    package mutating func setSecret(_ name: String, to bytes: [UInt8]) { secrets[name] = bytes }

    /// A fixed text that does not show the values.
    package var description: String { "(values withheld)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
