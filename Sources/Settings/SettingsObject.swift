package import Basics

/// A problem with a setting, or a notice about one.
package struct SettingProblem: Sendable, CustomStringConvertible {
    /// The name of the setting, of one within an object that of the whole; empty for a problem of no single setting.
    package let setting: String
    /// Where the setting stands: its path in the file, such as `routes[0].path`, or its option, such as `--route`;
    /// empty for a problem of no single setting.
    package let place: String
    package let text: String
    /// Whether the place is one in a configuration file.
    package let isInFile: Bool

    package init(_ setting: String, at place: String? = nil, _ text: String, isInFile: Bool = true) {
        (self.setting, self.place, self.text, self.isInFile) = (setting, place ?? setting, text, isInFile)
    }

    package var description: String { place.isEmpty ? text : place + (isInFile ? ": " : " ") + text }
}

/// One object of settings, read name by name. It collects all problems, each with its place.
package struct SettingsObject {
    package private(set) var problems: [SettingProblem] = []
    /// Notices for the operator about settings that were read.
    package private(set) var notices: [SettingProblem] = []
    /// The path of the object in the configuration; empty for the whole configuration.
    package let place: String
    /// The setting that the object is a part of; empty for the whole configuration.
    private var whole = ""
    private var values: [JSONName: JSONValue]
    /// The names of the options that give settings.
    private let options: [JSONName: String]
    private let isQuery: Bool
    /// The names that have been taken.
    private var given: Set<JSONName> = []
    /// The names that were taken and whose values could not be read.
    private var misread: Set<JSONName> = []

    /// - Parameters:
    ///   - place: The path of the object in the configuration; empty for the whole configuration.
    ///   - options: The names of the options that give settings.
    ///   - isQuery: Whether the settings are the query of a URL.
    package init(
        _ values: [JSONName: JSONValue], at place: String = "", options: [JSONName: String] = [:], isQuery: Bool = false
    ) {
        (self.values, self.place, self.options, self.isQuery) = (values, place, options, isQuery)
    }

    /// Adds a problem with the setting `name`, or with the object itself if `name` is `nil`.
    package mutating func refuse(_ name: String?, _ problem: String) { problems.append(about(name, problem)) }

    /// Adds a notice for the operator about the setting `name`, which was read.
    package mutating func notice(_ name: String, _ text: String) { notices.append(about(name, text)) }

    private func about(_ name: String?, _ text: String) -> SettingProblem {
        let place = name.map(placeOf) ?? place
        return SettingProblem(
            settingOf(name ?? ""), at: place, text, isInFile: !place.isEmpty && !place.hasPrefix("--") && !isQuery)
    }

    /// The setting of the whole configuration that a setting of this object is, or is a part of.
    private func settingOf(_ name: String) -> String { whole.isEmpty ? String(name.prefix { $0 != "[" }) : whole }

    /// The place of a setting, whose name may have the index of an item behind it.
    package func placeOf(_ name: String) -> String {
        let own = name.prefix { $0 != "[" }
        if let option = options[JSONName(String(own))] { return "--\(option)\(name.dropFirst(own.count))" }
        return (place.isEmpty ? "" : place + ".") + JSONName(name).step
    }

    /// Refuses those of some settings that are given, since they would have no effect.
    package mutating func refuse(_ names: [String], withoutEffect reason: String) {
        for name in names where wasTaken(name) { refuse(name, "has no effect \(reason)") }
    }

    /// Refuses all but the first of some settings that are given, of which there may be only one.
    package mutating func refuseSecond(of names: [String]) {
        let given = names.filter(wasTaken)
        guard let first = given.first else { return }
        for name in given.dropFirst() {
            refuse(name, "is given together with \(placeOf(first)); expected only one of them")
        }
    }

    /// Refuses every name that has not been read, after all settings have been.
    ///
    /// - Parameter known: The names that the object may have.
    mutating func refuseRest(known: [String]) {
        for name in names {
            let nearest = Spelling.nearest(to: name, among: known).map { "; did you mean \($0)?" }
            let all = isQuery ? "; known are \(known.joined(separator: ", "))" : ""
            refuse(name, (isQuery ? "is not a setting of this URL" : "no such setting") + (nearest ?? all))
        }
    }

    /// Takes the value of a setting's former name for that of the setting, and says so.
    mutating func rename(_ former: String, to name: String) {
        guard let value = values.removeValue(forKey: JSONName(former)) else { return }
        guard !has(name) else { return refuse(former, "is the former name of \(name), which is given too") }
        values[JSONName(name)] = value
        notice(former, "is called \(name) now")
    }

    /// Whether the object has a setting, which has not been taken.
    package func has(_ name: String) -> Bool { values[JSONName(name)] != nil }

    /// Whether the object had a setting, which has been taken.
    package func wasTaken(_ name: String) -> Bool { given.contains(JSONName(name)) }

    /// Whether the object had a setting that could be read.
    package func wasRead(_ name: String) -> Bool { wasTaken(name) && !misread.contains(JSONName(name)) }

    package mutating func text(_ name: String) -> String? {
        take(name, "a string") { if case .text(let text) = $0 { text } else { nil } }
    }

    package mutating func flag(_ name: String) -> Bool? {
        take(name, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    package mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        take(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .number(let number) = value, let whole = Int(exactly: number) else { return nil }
            return range.contains(whole) ? whole : nil
        }
    }

    /// Reads a list of strings. A single string counts as a list of one.
    package mutating func texts(_ name: String) -> [String]? {
        take(name, "a string or an array of strings") { $0.texts }
    }

    /// Reads one of some words.
    package mutating func word(_ name: String, _ words: [String]) -> String? {
        value(name, words.joined(separator: ", ")) { words.contains($0) ? $0 : nil }
    }

    /// Reads a string of a certain form; `nil` if there is none, or if it is refused.
    ///
    /// - Parameter expected: The form, for the message.
    package mutating func value<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> Value? {
        guard let text = text(name) else { return nil }
        let value = read(text)
        if value == nil {
            misread.insert(JSONName(name))
            refuse(name, "is '\(printable(text))'; expected \(expected)")
        }
        return value
    }

    /// Reads a list of strings of a certain form; `nil` if there is none. Those that are refused are left out.
    package mutating func values<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> [Value]? {
        // An option has no items that a user counts.
        let isList = if case .list? = values[JSONName(name)] { options[JSONName(name)] == nil } else { false }
        guard let texts = texts(name) else { return nil }
        return texts.enumerated().compactMap { position, text in
            let value = read(text)
            if value == nil {
                misread.insert(JSONName(name))
                let item = isList ? "\(name)[\(position)]" : name
                refuse(item, "is '\(printable(text))'; expected \(expected)")
            }
            return value
        }
    }

    /// The names that have not been read yet, sorted.
    package var names: [String] { values.keys.map(\.text).sorted() }

    /// Whether the value of a setting is a list of strings, or one string.
    package func hasTexts(_ name: String) -> Bool { values[JSONName(name)]?.texts != nil }

    package mutating func object(_ name: String) -> SettingsObject? {
        let values = take(name, "an object") { if case .object(let values) = $0 { values } else { nil } }
        return values.map { below($0, name) }
    }

    /// Reads a list of objects; empty if there is none.
    ///
    /// - Parameter expected: What an item is that is no object, such as one of a command line.
    package mutating func objects(_ name: String, orElse expected: String = "an object") -> [SettingsObject] {
        let list: [JSONValue] =
            take(name, "an array of objects") { if case .list(let list) = $0 { list } else { nil } } ?? []
        return list.enumerated().compactMap { (position, value) -> SettingsObject? in
            let item = "\(name)[\(position)]"
            if case .object(let values) = value { return below(values, item) }
            let isOption = options[JSONName(name)] != nil
            refuse(isOption ? name : item, "is \(value.shown); expected \(isOption ? expected : "an object")")
            return nil
        }
    }

    /// An object inside this one.
    private func below(_ values: [JSONName: JSONValue], _ name: String) -> SettingsObject {
        var object = SettingsObject(values, at: placeOf(name))
        object.whole = settingOf(name)
        return object
    }

    /// Takes a setting without reading it.
    @discardableResult
    package mutating func take(_ name: String) -> JSONValue? {
        guard let value = values.removeValue(forKey: JSONName(name)) else { return nil }
        given.insert(JSONName(name))
        return value
    }

    /// The values that have not been taken.
    package var untaken: [JSONName: JSONValue] { values }

    /// Adds the problems and notices of an object inside this one.
    package mutating func takeOver(_ object: SettingsObject) {
        problems += object.problems
        notices += object.notices
    }

    private mutating func take<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = take(name) else { return nil }
        let result = read(value)
        if result == nil {
            misread.insert(JSONName(name))
            refuse(name, "is \(value.shown); expected \(expected)")
        }
        return result
    }
}

extension JSONValue {
    /// The strings of an array of strings, or a single string; `nil` for any other value.
    fileprivate var texts: [String]? {
        switch self {
        case .text(let text): return [text]
        case .list(let list):
            let texts = list.compactMap { if case .text(let text) = $0 { text } else { nil } }
            return texts.count == list.count ? texts : nil
        default: return nil
        }
    }
}
