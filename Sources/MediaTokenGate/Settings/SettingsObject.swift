internal import StreamPaths
internal import TextEncodings

/// One JSON object of the settings, read name by name. It collects all problems, each with its place.
struct SettingsObject {
    private(set) var problems: [String] = []
    private let place: String
    private var values: [JSONName: JSONValue]

    /// - Parameter place: The path of the object in the configuration; empty for the whole configuration.
    init(_ values: [JSONName: JSONValue], at place: String = "") {
        (self.values, self.place) = (values, place)
    }

    /// Adds a problem with the setting `name`, or with the object itself if `name` is `nil`.
    mutating func refuse(_ name: String?, _ problem: String) {
        let path = [place, name.map { printable($0) } ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        problems.append("\(path): \(problem)")
    }

    /// Adds a problem for each name that has not been read, after all settings have been.
    mutating func refuseRest() {
        for name in names { refuse(name, "no such setting") }
    }

    func has(_ name: String) -> Bool { values[JSONName(name)] != nil }

    /// Reads a setting, and adds a problem if it is missing.
    mutating func required<Value>(_ name: String, _ read: (inout SettingsObject) -> Value?) -> Value? {
        if !has(name) { refuse(name, "is missing") }
        return read(&self)
    }

    mutating func text(_ name: String) -> String? {
        take(name, "a string") { if case .text(let text) = $0 { text } else { nil } }
    }

    mutating func flag(_ name: String) -> Bool? {
        take(name, "true or false") { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    mutating func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        take(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .number(let number) = value, let whole = Int(exactly: number) else { return nil }
            return range.contains(whole) ? whole : nil
        }
    }

    /// Reads a list of strings. A single string counts as a list of one.
    mutating func texts(_ name: String) -> [String]? {
        take(name, "a string or an array of strings") { value in
            switch value {
            case .text(let text): return [text]
            case .list(let list):
                let texts = list.compactMap { if case .text(let text) = $0 { text } else { nil } }
                return texts.count == list.count ? texts : nil
            default: return nil
            }
        }
    }

    /// Reads a list of hosts; empty if there is none.
    mutating func hosts(_ name: String) -> [StreamHost] {
        values(name, "the name of a host, without a scheme and a port") { StreamHost(withoutPort: $0) }
    }

    /// Reads a list of origins; empty if there is none.
    mutating func origins(_ name: String) -> [StreamOrigin] {
        values(name, "https://HOST[:PORT] or http://HOST[:PORT]") { StreamOrigin($0) }
    }

    private mutating func values<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> [Value] {
        guard let texts = texts(name) else { return [] }
        if texts.isEmpty { refuse(name, "is an empty list; expected \(expected)") }
        return texts.compactMap { text in
            let value = read(text)
            if value == nil { refuse(name, "is '\(printable(text))'; expected \(expected)") }
            return value
        }
    }

    /// The names that have not been read yet, sorted.
    var names: [String] { values.keys.map(\.text).sorted() }

    mutating func object(_ name: String) -> SettingsObject? {
        let values = take(name, "an object") { if case .object(let values) = $0 { values } else { nil } }
        return values.map { SettingsObject($0, at: below(name)) }
    }

    /// Reads a list of objects; empty if there is none.
    mutating func objects(_ name: String) -> [SettingsObject] {
        let list: [JSONValue] =
            take(name, "an array of objects") { if case .list(let list) = $0 { list } else { nil } } ?? []
        return list.enumerated().compactMap { (position, value) -> SettingsObject? in
            let item = "\(name)[\(position)]"
            if case .object(let values) = value { return SettingsObject(values, at: below(item)) }
            refuse(item, "is \(value.kind); expected an object")
            return nil
        }
    }

    /// Adds the problems of an object inside this one.
    mutating func refuse(with object: SettingsObject) { problems += object.problems }

    private func below(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    private mutating func take<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = values.removeValue(forKey: JSONName(name)) else { return nil }
        let result = read(value)
        if result == nil { refuse(name, "is \(value.kind); expected \(expected)") }
        return result
    }
}
