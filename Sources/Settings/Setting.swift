package import Basics

/// Where a setting may be given.
package enum SettingSource: Sendable {
    /// The command line.
    case option
    /// A configuration file in JSON.
    case file
    /// The query of a URL.
    case url
}

/// A setting. Its option, its reading, its messages, the effect of a reload, the example file, the JSON Schema and its
/// row on a page are all made from this value.
package struct Setting<Values>: Sendable {
    package typealias Read = @Sendable (inout SettingsObject, _ name: String, inout Values) -> Void

    /// The name of the setting in a configuration file or a URL.
    package let name: String
    /// The form of the value in a configuration file.
    package let form: SettingForm
    /// What the value is, as `--help` names it; `nil` for a flag.
    package let placeholder: String?
    /// One line, without the default and the range.
    package let help: String
    /// The value that the setting has if it is not given; `nil` for none.
    package let defaultValue: JSONValue?
    /// The value in the example file. It need not be the default.
    package let example: JSONValue
    /// Reads the value, or refuses it.
    package let read: Read
    /// The heading under which `--help` and pages list the setting.
    package private(set) var topic = ""
    /// Where the setting may be given; `nil` for everywhere.
    package private(set) var source: SettingSource?
    /// Whether the setting must be given.
    package private(set) var isRequired = false
    /// Whether the setting differs in two sets of values; `nil` where a reload applies it.
    package private(set) var differs: (@Sendable (Values, Values) -> Bool)?
    /// The name that the setting had before.
    package private(set) var formerName: String?
    /// The name of the option, if it is not that of the setting.
    private var otherOptionName: String?
    /// Reads the value of one option of an array of objects; `nil` if it cannot be read.
    private var item: (@Sendable (String) -> JSONValue?)?

    package init(
        _ name: String, _ placeholder: String?, _ form: SettingForm, _ help: String,
        default defaultValue: JSONValue? = nil, example: JSONValue? = nil, read: @escaping Read
    ) {
        (self.name, self.placeholder, self.form, self.help) = (name, placeholder, form, help)
        (self.defaultValue, self.read) = (defaultValue, read)
        self.example = example ?? defaultValue ?? .null
    }

    /// Whether a new value takes effect only when the process starts again.
    package var waitsForRestart: Bool { differs != nil }

    /// The name of the option on a command line, with `no-` before the name of a flag that is on by default.
    package var optionName: String {
        if let otherOptionName { return otherOptionName }
        if case .flag = form, defaultValue == .boolean(true) { return "no-\(name)" }
        return name
    }

    /// Returns the setting, listed under a heading.
    package func under(_ topic: String) -> Setting { with { $0.topic = topic } }

    /// Returns the setting, marked as one whose new value takes effect only after a restart.
    package func afterRestart(_ path: any KeyPath<Values, some Equatable & SendableMetatype> & Sendable) -> Setting {
        with { $0.differs = { $0[keyPath: path] != $1[keyPath: path] } }
    }

    /// The setting, which must be given.
    package var required: Setting { with { $0.isRequired = true } }

    /// The setting, which need not be given.
    package var optional: Setting { with { $0.isRequired = false } }

    /// Returns the setting, which only one source may have.
    package func only(in source: SettingSource) -> Setting { with { $0.source = source } }

    /// Returns the setting, which is read under its former name too.
    package func formerly(_ name: String) -> Setting { with { $0.formerName = name } }

    /// Returns the setting, an array of objects, of which each option of this name gives one.
    package func asOption(_ name: String, item: @escaping @Sendable (String) -> JSONValue?) -> Setting {
        with { ($0.otherOptionName, $0.item) = (name, item) }
    }

    private func with(_ change: (inout Setting) -> Void) -> Setting {
        var setting = self
        change(&setting)
        return setting
    }

    /// Returns the same setting of values that contain these.
    package func within<Outer>(_ path: any WritableKeyPath<Outer, Values> & Sendable) -> Setting<Outer> {
        readBy { [read] object, name, values in read(&object, name, &values[keyPath: path]) }
    }

    /// Returns the same setting, which is read in another way.
    package func readBy<Outer>(_ read: @escaping Setting<Outer>.Read) -> Setting<Outer> {
        var outer = Setting<Outer>(
            name, placeholder, form, help, default: defaultValue, example: example, read: read)
        (outer.topic, outer.source, outer.isRequired, outer.formerName) = (topic, source, isRequired, formerName)
        (outer.otherOptionName, outer.item) = (otherOptionName, item)
        return outer
    }

    /// The value that texts of a command line or a URL stand for, as a configuration file would have it. A text that is
    /// no number stays a text, which the reading then refuses.
    func value(of texts: [String], in source: SettingSource) -> JSONValue {
        let text = texts.first ?? ""
        switch form {
        case .texts, .lists: return texts.count == 1 ? .text(text) : .list(texts.map { .text($0) })
        case .objects: return .list(texts.map { item?($0) ?? .text($0) })
        case .number: return Int(text).map { .number(Double($0)) } ?? .text(text)
        case .flag:
            return source == .option ? .boolean(optionName == name) : Bool(text).map { .boolean($0) } ?? .text(text)
        case .text, .word, .object: return .text(text)
        }
    }

    /// The help with the default and the range, as `--help` and pages show it.
    package var fullHelp: String {
        var notes = isRequired ? ["required"] : []
        if form.isRepeatable { notes.append("repeatable") }
        if case .word(let words) = form { notes.append(words.joined(separator: ", ")) }
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
    package var schema: JSONValue {
        var schema = form.schema
        schema["description"] = .text(help)
        schema["default"] = defaultValue
        return .object(schema)
    }
}

extension Setting {
    /// A flag.
    package static func flag(
        _ name: String, _ help: String, default defaultValue: Bool = false,
        _ path: any WritableKeyPath<Values, Bool> & Sendable
    ) -> Setting {
        Setting(name, nil, .flag, help, default: .boolean(defaultValue)) { object, name, values in
            values[keyPath: path] = object.flag(name) ?? values[keyPath: path]
        }
    }

    /// A string.
    package static func text(
        _ name: String, _ placeholder: String, _ help: String, default defaultValue: String? = nil,
        example: String? = nil, _ path: any WritableKeyPath<Values, String?> & Sendable
    ) -> Setting {
        Setting(
            name, placeholder, .text(), help, default: defaultValue.map { .text($0) },
            example: example.map { .text($0) }
        ) { object, name, values in
            values[keyPath: path] = object.text(name) ?? values[keyPath: path]
        }
    }

    /// A list of strings.
    package static func texts(
        _ name: String, _ placeholder: String, _ help: String, _ path: any WritableKeyPath<Values, [String]> & Sendable
    ) -> Setting {
        Setting(name, placeholder, .texts(), help) { object, name, values in
            values[keyPath: path] = object.texts(name) ?? values[keyPath: path]
        }
    }

    /// A whole number, or a number of seconds.
    package static func number<Number>(
        _ name: String, _ placeholder: String, _ help: String, _ range: ClosedRange<Int>,
        default defaultValue: Int? = nil, example: Int? = nil,
        _ path: any WritableKeyPath<Values, Number> & Sendable, _ make: @escaping @Sendable (Int) -> Number
    ) -> Setting {
        Setting(
            name, placeholder, .number(range), help, default: defaultValue.map { .number(Double($0)) },
            example: .number(Double(example ?? defaultValue ?? range.lowerBound))
        ) { object, name, values in
            if let number = object.number(name, range) { values[keyPath: path] = make(number) }
        }
    }

    /// A whole number.
    package static func number(
        _ name: String, _ placeholder: String, _ help: String, _ range: ClosedRange<Int>, default defaultValue: Int,
        _ path: any WritableKeyPath<Values, Int> & Sendable
    ) -> Setting {
        number(name, placeholder, help, range, default: defaultValue, path) { $0 }
    }

    /// One of the words of a type.
    package static func word<Word: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ placeholder: String, _ help: String, default defaultValue: Word? = nil,
        _ path: any WritableKeyPath<Values, Word> & Sendable
    ) -> Setting where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue)
        return Setting(
            name, placeholder, .word(words), help, default: defaultValue.map { .text($0.rawValue) }
        ) { object, name, values in
            if let word = object.word(name, words).flatMap(Word.init) { values[keyPath: path] = word }
        }
    }
}
