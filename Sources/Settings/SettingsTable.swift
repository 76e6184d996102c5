package import Basics

/// Settings that are given together: the options of a command, the members of an object in a configuration file, or the
/// query of a URL.
package struct SettingsTable<Values>: Sendable {
    package let settings: [Setting<Values>]

    package init(_ settings: [Setting<Values>]) { self.settings = settings }

    /// Creates a table of the settings of several.
    package init(_ tables: Self...) { settings = tables.flatMap(\.settings) }

    /// Settings that are listed under a heading.
    package static func group(_ topic: String, _ settings: [Setting<Values>]) -> Self {
        Self(settings.map { $0.under(topic) })
    }

    /// Returns the settings, listed under a heading.
    package func under(_ topic: String) -> Self { .group(topic, settings) }

    /// Returns the same settings of values that contain these.
    package func within<Outer>(_ path: any WritableKeyPath<Outer, Values> & Sendable) -> SettingsTable<Outer> {
        SettingsTable<Outer>(settings.map { $0.within(path) })
    }

    /// Returns the settings of some names, of which none must be given, in the order of the names.
    package func some(_ names: String...) -> Self {
        Self(names.flatMap { name in settings.filter { $0.name == name }.map(\.optional) })
    }

    package var names: [String] { settings.map(\.name) }

    /// The settings that an option can give.
    package var options: [Setting<Values>] { settings.filter { $0.source ?? .option == .option } }

    /// Reads every setting of an object, and refuses each name that is no setting.
    ///
    /// - Parameter others: The names that the object may have besides.
    package func read(_ object: inout SettingsObject, into values: inout Values, alsoKnown others: [String] = []) {
        for setting in settings {
            if let former = setting.formerName { object.rename(former, to: setting.name) }
            if setting.isRequired, !object.has(setting.name) {
                object.refuse(setting.name, "is missing; expected \(setting.placeholder ?? "true or false")")
            }
            setting.read(&object, setting.name, &values)
        }
        object.refuseRest(known: settings.map(\.name) + others)
    }

    /// The settings of a command line.
    ///
    /// - Parameter given: The values of each option that is given.
    package func object(_ given: [String: [String]]) -> SettingsObject {
        var values: [JSONName: JSONValue] = [:]
        for setting in options {
            values[JSONName(setting.name)] = given[setting.optionName].map { setting.value(of: $0, in: .option) }
        }
        var object = object(values, over: nil)
        for setting in options where !setting.form.isRepeatable {
            guard let count = given[setting.optionName]?.count, count > 1 else { continue }
            object.refuse(setting.name, "is given \(count) times; expected once")
        }
        return object
    }

    /// The settings of a command line over those of a file.
    ///
    /// - Parameters:
    ///   - given: The settings that options give.
    ///   - file: The settings of the file; `nil` without one.
    package func object(_ given: [JSONName: JSONValue], over file: [JSONName: JSONValue]?) -> SettingsObject {
        var (values, names) = (file ?? [:], [JSONName: String]())
        for setting in options where file == nil || given[JSONName(setting.name)] != nil {
            names[JSONName(setting.name)] = setting.optionName
            if let former = setting.formerName { values[JSONName(former)] = nil }
        }
        return SettingsObject(values.merging(given) { $1 }, options: names)
    }

    /// The settings of a URL's query.
    package func object(query: [(name: String, value: String)]) -> SettingsObject {
        var (values, repeated) = ([JSONName: JSONValue](), [String]())
        for (name, text) in query {
            let setting = settings.first { $0.name == name }
            let value = setting?.value(of: [text], in: .url) ?? .text(text)
            if values.updateValue(value, forKey: JSONName(name)) != nil { repeated.append(name) }
        }
        var object = SettingsObject(values, isQuery: true)
        for name in repeated { object.refuse(name, "is given twice; expected once") }
        return object
    }

    /// The JSON Schema of such an object.
    ///
    /// - Parameters:
    ///   - rules: Further members of the schema, for what depends on several settings.
    ///   - others: Further properties of the object, which are no settings.
    package func schema(
        _ rules: [JSONName: JSONValue] = [:], alsoNaming others: [JSONName: JSONValue] = [:]
    ) -> JSONValue {
        var properties = others
        for setting in settings { properties[JSONName(setting.name)] = setting.schema }
        let own: [JSONName: JSONValue] = [
            "type": "object", "properties": .object(properties), "additionalProperties": .boolean(false),
            "required": .list(settings.filter(\.isRequired).map { .text($0.name) }),
        ]
        return .object(own.merging(rules) { $1 })
    }
}
