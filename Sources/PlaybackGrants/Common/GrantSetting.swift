internal import Basics
package import Settings

/// A setting of one kind of playback grant: an option of `media-token grant`, a name in a route's configuration, or
/// both.
package typealias GrantSetting = Setting<GrantValues>

/// The headings in `--help` under which the settings are listed.
package enum GrantTopic: String, Sendable, CaseIterable {
    case key = "Key"
    case scope = "What it opens"
    case time = "When"
    case form = "In which form"
}

extension GrantSetting {
    /// A text.
    ///
    /// - Parameter problem: The reason why a text is not accepted; `nil` if it is.
    static func text(
        _ name: String, _ placeholder: String, _ topic: GrantTopic, _ help: String, example: String = "",
        problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> GrantSetting {
        GrantSetting(name, placeholder, .text(), help, example: .text(example)) { object, name, values in
            guard let text = object.text(name) else { return }
            values[name] = text
            if let problem = problem(text) { object.refuse(name, problem) }
        }.under(topic.rawValue)
    }

    /// Several texts.
    static func list(
        _ name: String, _ placeholder: String, _ topic: GrantTopic, _ help: String, example: [String] = [],
        problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> GrantSetting {
        GrantSetting(
            name, placeholder, .texts(), help, example: .list(example.map { .text($0) })
        ) { object, name, values in
            guard let texts = object.texts(name) else { return }
            values.set(name, to: texts)
            if texts.isEmpty { object.refuse(name, "is an empty list; expected at least one") }
            if let problem = texts.compactMap(problem).first { object.refuse(name, problem) }
        }.under(topic.rawValue)
    }

    /// One of some words.
    static func word(_ name: String, _ topic: GrantTopic, _ help: String, _ words: [String]) -> GrantSetting {
        GrantSetting(name, "NAME", .word(words), help, example: words.first.map { .text($0) }) { object, name, values in
            values[name] = object.word(name, words)
        }.under(topic.rawValue)
    }

    /// A number of seconds from 1 to a limit.
    static func seconds(
        _ name: String, _ topic: GrantTopic, _ help: String, to limit: Duration, example: Int
    ) -> GrantSetting {
        let range = 1...Int(limit.components.seconds)
        return GrantSetting(
            name, "S", .number(range), help, example: .number(Double(example))
        ) { object, name, values in
            values[name] = object.number(name, range).map { String($0) }
        }.under(topic.rawValue)
    }

    /// A setting that is either present or not.
    static func flag(_ name: String, _ topic: GrantTopic, _ help: String) -> GrantSetting {
        GrantSetting(name, nil, .flag, help, example: .boolean(true)) { object, name, values in
            values[name] = object.flag(name) == true ? "" : nil
        }.under(topic.rawValue)
    }

    /// The address that alone may use the grant.
    static let ip = text("ip", "ADDRESS", .scope, "from this address alone") { text in
        // A network has the number of its bits behind a slash.
        let address = text.prefix { $0 != "/" }
        return IPAddress(String(address)) == nil ? "is '\(printable(text))'; expected an address" : nil
    }.only(in: .option)
    /// The start of the grant's validity period.
    static let starts = text("starts", "TIME", .time, "not before (default: at once)").only(in: .option)
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
