package import TextEncodings

/// A setting of the gate. Its option, its reading, the effect of a reload, the example file, the JSON Schema and its row on
/// the page are all derived from this value.
package struct Setting<Values: Sendable>: Sendable {
    /// The name of the setting in the configuration file.
    package let name: String
    /// The form of the value in the configuration file.
    package let form: SettingForm
    /// What the value is, as `--help` names it; `nil` for a flag.
    package let placeholder: String?
    /// One line, without the default and the range.
    package let help: String
    /// The value if the file does not have the setting; `nil` for none.
    package let defaultValue: JSONValue?
    /// The value in the example file. It need not be the default.
    package let example: JSONValue
    /// Reads the value of the setting from the file, or says what is wrong with it.
    let read: @Sendable (inout SettingsObject, _ name: String, inout Values) -> Void
    /// The heading under which `--help` and the page list the setting.
    package private(set) var topic = ""
    /// Whether a new value takes effect only when the process starts again.
    package var waitsForRestart: Bool { differs != nil }
    /// Whether the file must have the setting.
    package private(set) var isRequired = false
    /// Whether the setting differs in two sets of values; `nil` where a reload takes it over.
    private(set) var differs: (@Sendable (Values, Values) -> Bool)?
    /// Whether the command line has an option for the setting.
    package private(set) var isOption = true
    /// The name that the setting had before.
    package private(set) var formerName: String?

    init(
        _ name: String, _ placeholder: String?, _ form: SettingForm, _ help: String,
        default defaultValue: JSONValue? = nil,
        example: JSONValue, read: @escaping @Sendable (inout SettingsObject, _ name: String, inout Values) -> Void
    ) {
        (self.name, self.placeholder, self.form, self.help) = (name, placeholder, form, help)
        (self.defaultValue, self.example, self.read) = (defaultValue, example, read)
    }

    /// The setting, listed under a heading.
    func under(_ topic: String) -> Setting { with { $0.topic = topic } }

    /// Returns the setting, marked as one whose new value takes effect only when the gate starts again.
    func afterRestart(_ path: any KeyPath<Values, some Equatable & SendableMetatype> & Sendable) -> Setting {
        with { $0.differs = { $0[keyPath: path] != $1[keyPath: path] } }
    }

    /// The setting, which the file must have.
    var required: Setting { with { $0.isRequired = true } }

    /// The setting, which only a configuration file can have.
    var inFileOnly: Setting { with { $0.isOption = false } }

    /// The setting, which is read under its former name too.
    func formerly(_ name: String) -> Setting { with { $0.formerName = name } }

    private func with(_ change: (inout Setting) -> Void) -> Setting {
        var setting = self
        change(&setting)
        return setting
    }

    /// The help with the default and the range, as `--help` and the page show it.
    package var fullHelp: String {
        var notes: [String] = []
        switch form {
        case .texts, .lists, .objects: notes.append("repeatable")
        case .word(let words): notes.append(words.joined(separator: ", "))
        default: break
        }
        if let shown = defaultValue.flatMap(Self.shown) { notes.append("default \(shown)") }
        if case .number(let range) = form { notes.append("\(range.lowerBound) to \(range.upperBound)") }
        return notes.isEmpty ? help : "\(help) (\(notes.joined(separator: "; ")))"
    }

    private static func shown(_ value: JSONValue) -> String? {
        switch value {
        case .text(let text): text
        case .number(let number): "\(Int(number))"
        case .list(let items): items.isEmpty ? nil : items.compactMap(shown).joined(separator: ", ")
        case .boolean(true): "true"
        case .null, .boolean, .object: nil
        }
    }

    /// The JSON Schema of the value, with the help and the default.
    var schema: JSONValue {
        var schema = form.schema
        schema["description"] = .text(help)
        schema["default"] = defaultValue
        return .object(schema)
    }
}

extension Setting {
    /// A flag.
    static func flag(
        _ name: String, _ help: String, default defaultValue: Bool = false,
        _ path: any WritableKeyPath<Values, Bool> & Sendable
    ) -> Setting {
        Setting(name, nil, .flag, help, default: .boolean(defaultValue), example: .boolean(defaultValue)) {
            object, name, values in
            values[keyPath: path] = object.flag(name) ?? values[keyPath: path]
        }
    }

    /// A string.
    static func text(
        _ name: String, _ placeholder: String, _ help: String, example: String,
        _ path: any WritableKeyPath<Values, String?> & Sendable
    ) -> Setting {
        Setting(name, placeholder, .text(), help, example: .text(example)) { object, name, values in
            values[keyPath: path] = object.text(name) ?? values[keyPath: path]
        }
    }

    /// A whole number, or a number of seconds.
    static func number<Number>(
        _ name: String, _ placeholder: String, _ help: String, _ range: ClosedRange<Int>,
        default defaultValue: Int? = nil,
        example: Int? = nil, _ path: any WritableKeyPath<Values, Number> & Sendable,
        _ make: @escaping @Sendable (Int) -> Number
    ) -> Setting {
        Setting(
            name, placeholder, .number(range), help, default: defaultValue.map { .number(Double($0)) },
            example: .number(Double(example ?? defaultValue ?? range.lowerBound))
        ) { object, name, values in
            if let number = object.number(name, range) { values[keyPath: path] = make(number) }
        }
    }
}

/// The members of an object in the configuration file.
struct SettingsTable<Values: Sendable>: Sendable {
    let settings: [Setting<Values>]

    /// Reads every setting of an object, and adds a problem for each name that is no setting.
    ///
    /// - Parameter others: The names that the object may have besides.
    func read(_ object: inout SettingsObject, into values: inout Values, alsoKnown others: [String] = []) {
        for setting in settings {
            if let former = setting.formerName { object.rename(former, to: setting.name) }
            if setting.isRequired, !object.has(setting.name) {
                object.refuse(setting.name, "is missing; expected \(setting.placeholder ?? "true or false")")
            }
            setting.read(&object, setting.name, &values)
        }
        object.refuseRest(known: settings.map(\.name) + others)
    }

    /// The JSON Schema of such an object.
    ///
    /// - Parameters:
    ///   - rules: further members of the schema, for what depends on several settings.
    ///   - others: further properties of the object, which are no settings.
    func schema(_ rules: [JSONName: JSONValue] = [:], alsoNaming others: [JSONName: JSONValue] = [:]) -> JSONValue {
        var properties = others
        for setting in settings { properties[JSONName(setting.name)] = setting.schema }
        let own: [JSONName: JSONValue] = [
            "type": "object", "properties": .object(properties), "additionalProperties": .boolean(false),
            "required": .list(settings.filter(\.isRequired).map { .text($0.name) }),
        ]
        return .object(own.merging(rules) { $1 })
    }
}
