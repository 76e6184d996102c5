internal import HTTPServing
internal import MediaToken
internal import StreamPaths
internal import TextEncodings

/// One JSON object of the settings, read name by name. It collects all problems, each with its place.
struct SettingsObject {
    private(set) var problems: [String] = []
    /// Notices for the operator about settings that were read, each with its place.
    private(set) var notices: [String] = []
    /// The path of the object in the configuration; empty for the whole configuration.
    let place: String
    private var values: [JSONName: JSONValue]
    /// The names that have been taken.
    private var given: Set<JSONName> = []
    /// The names that were taken and whose values could not be read.
    private var misread: Set<JSONName> = []

    /// - Parameter place: The path of the object in the configuration; empty for the whole configuration.
    init(_ values: [JSONName: JSONValue], at place: String = "") {
        (self.values, self.place) = (values, place)
    }

    /// Adds a problem with the setting `name`, or with the object itself if `name` is `nil`.
    mutating func refuse(_ name: String?, _ problem: String) { problems.append(line(name, problem)) }

    /// Adds a notice for the operator about the setting `name`, which was read.
    mutating func notice(_ name: String, _ text: String) { notices.append(line(name, text)) }

    private func line(_ name: String?, _ text: String) -> String {
        let path = [place, name.map { printable($0) } ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        return "\(path): \(text)"
    }

    /// Adds a problem for each name that has not been read, after all settings have been.
    ///
    /// - Parameter known: The names that the object may have.
    mutating func refuseRest(known: [String]) {
        for name in names {
            let nearest = Spelling.nearest(to: name, among: known).map { "; did you mean \($0)?" }
            refuse(name, "no such setting" + (nearest ?? ""))
        }
    }

    /// Takes the value of a setting's former name for that of the setting, and says so.
    mutating func rename(_ former: String, to name: String) {
        guard let value = values.removeValue(forKey: JSONName(former)) else { return }
        guard !has(name) else { return refuse(former, "is the former name of \(name), which is given too") }
        values[JSONName(name)] = value
        notice(former, "is called \(name) now")
    }

    func has(_ name: String) -> Bool { values[JSONName(name)] != nil }

    /// Whether the object had a setting, which has been taken.
    func wasTaken(_ name: String) -> Bool { given.contains(JSONName(name)) }

    /// Whether the object had a setting that could be read.
    func wasRead(_ name: String) -> Bool { wasTaken(name) && !misread.contains(JSONName(name)) }

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
        take(name, "a string or an array of strings") { $0.texts }
    }

    /// Reads one of some words.
    mutating func word(_ name: String, _ words: [String]) -> String? {
        guard let text = text(name) else { return nil }
        guard words.contains(text) else {
            refuse(name, "is '\(printable(text))'; expected \(words.joined(separator: ", "))")
            return nil
        }
        return text
    }

    /// Reads a list of listeners; `nil` if there is none.
    mutating func listeners(_ name: String, mayBeEmpty: Bool) -> [HTTPListener]? {
        let texts = texts(name)
        if texts == [], !mayBeEmpty { refuse(name, "names no place; expected at least one") }
        return texts?.enumerated().compactMap { position, text in
            let listener = HTTPListener(text)
            if listener == nil {
                refuse("\(name)[\(position)]", "is '\(printable(text))'; expected \(HTTPListener.forms)")
            }
            return listener
        }
    }

    /// Reads the MVPDs of each requestor: `{"REQUESTOR": ["ID", …]}`, or strings `REQUESTOR=ID`.
    mutating func allowLists(_ name: String) -> [RequestorID: Set<MVPDID>] {
        var allowed: [RequestorID: Set<MVPDID>] = [:]
        if values[JSONName(name)]?.texts != nil, let pairs = texts(name) {
            if pairs.isEmpty { refuse(name, Self.noRestriction) }
            for pair in pairs {
                guard let mark = pair.firstIndex(of: "="), mark != pair.startIndex,
                    pair.index(after: mark) != pair.endIndex
                else {
                    refuse(name, "is '\(printable(pair))'; expected REQUESTOR=ID")
                    continue
                }
                allowed[RequestorID(String(pair[..<mark])), default: []].insert(
                    MVPDID(String(pair[mark...].dropFirst())))
            }
            return allowed
        }
        guard var lists = object(name) else { return allowed }
        if lists.names.isEmpty { refuse(name, Self.noRestriction) }
        for requestor in lists.names {
            guard let identifiers = lists.texts(requestor) else { continue }
            allowed[RequestorID(requestor)] = Set(identifiers.map { MVPDID($0) })
            if identifiers.isEmpty { lists.refuse(requestor, "is an empty list, and would refuse every token") }
            if identifiers.contains("") { lists.refuse(requestor, "holds an empty string; expected the ID of an MVPD") }
        }
        takeOver(lists)
        return allowed
    }

    private static let noRestriction = "is empty, and would restrict no requestor; leave it out"

    /// Reads a list of hosts; empty if there is none.
    mutating func hosts(_ name: String) -> [StreamHost] {
        values(name, "the name of a host, without a scheme and a port") { StreamHost(withoutPort: $0) }
    }

    /// Reads a list of origins; empty if there is none.
    mutating func origins(_ name: String) -> [StreamOrigin] {
        values(name, "https://HOST[:PORT] or http://HOST[:PORT]") { StreamOrigin($0) }
    }

    /// Reads a list of values; empty if there is none.
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
            refuse(item, "is \(value.shown); expected an object")
            return nil
        }
    }

    /// Adds the problems and notices of an object inside this one.
    mutating func takeOver(_ object: SettingsObject) {
        problems += object.problems
        notices += object.notices
    }

    private func below(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

    private mutating func take<Value>(
        _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = values.removeValue(forKey: JSONName(name)) else { return nil }
        given.insert(JSONName(name))
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
