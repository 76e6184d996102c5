internal import CommandShell
internal import Files
internal import MediaTokenGate
internal import TextEncodings

extension Setting {
    /// The option of the command line: the setting's name, of an array of objects that of one of them, and with `no-` before
    /// it for a flag that is on by default.
    var optionName: String {
        switch form {
        case .objects: String(name.dropLast())
        case .flag where defaultValue == .boolean(true): "no-\(name)"
        default: name
        }
    }

    var option: CommandOption {
        CommandOption(optionName, placeholder, optionName == "no-\(name)" ? "Turn off: \(fullHelp)" : fullHelp)
    }

    /// The value that the command line gives to the setting, as the configuration file would have it; `nil` if it gives none.
    func value(_ given: Arguments) throws(UsageError) -> JSONValue? {
        guard given.has(optionName) else { return nil }
        switch form {
        case .text, .word, .object: return .text(try given.one(optionName) ?? "")
        case .texts, .lists: return .list(given.all(optionName).map { .text($0) })
        case .number:
            let text = try given.one(optionName) ?? ""
            guard let number = Int(text) else {
                throw UsageError("--\(optionName) is '\(text)'; expected a whole number")
            }
            return .number(Double(number))
        case .flag: return .boolean(optionName == name)
        case .objects: return .list(try given.all(optionName).map(route))
        }
    }

    private func route(_ text: String) throws(UsageError) -> JSONValue {
        guard let mark = text.firstIndex(of: "=") else {
            throw UsageError("--\(optionName) is '\(text)'; expected PATH=REQUESTOR:RESOURCE")
        }
        let (path, rest) = (String(text[..<mark]), text[text.index(after: mark)...])
        if rest == "open" { return ["path": .text(path), "open": .boolean(true)] }
        guard let colon = rest.firstIndex(of: ":") else {
            throw UsageError("--\(optionName) is '\(text)'; expected PATH=REQUESTOR:RESOURCE or PATH=open")
        }
        return [
            "path": .text(path), "requestor": .text(String(rest[..<colon])),
            "resource": .text(String(rest[rest.index(after: colon)...])),
        ]
    }
}

/// The options of `serve` that are settings of its configuration file too, and the file itself.
struct GateOptions {
    /// The settings as `--help` lists them.
    static let groups = topics.map { topic in
        OptionGroup(
            heading: topic + ":", options: GateSettings.all.filter { $0.topic == topic && $0.isOption }.map(\.option))
    }

    private static let topics = GateSettings.all.map(\.topic).reduce(into: [String]()) { topics, topic in
        if topics.last != topic { topics.append(topic) }
    }

    let file: String?
    private let given: [JSONName: JSONValue]

    init(_ given: Arguments) throws(UsageError) {
        file = try given.one("config")
        var values: [JSONName: JSONValue] = [:]
        for setting in GateSettings.all where setting.isOption {
            values[JSONName(setting.name)] = try setting.value(given)
        }
        self.given = values
    }

    /// Reads the settings of file and command line together, and prints what the operator should know of them. An option
    /// replaces what the file says.
    ///
    /// - Parameter isReload: Whether the file was read before, and must not be a pipe now, for whose writer the gate would wait.
    func read(isReload: Bool = false) throws(CommandError) -> GateSettingsReader {
        var values =
            try file.map { (file) throws(CommandError) in try Self.read(file: file, onlyRegular: isReload) } ?? [:]
        for setting in GateSettings.all where given[JSONName(setting.name)] != nil {
            if let former = setting.formerName { values[JSONName(former)] = nil }
        }
        values.merge(given) { $1 }
        let reader = GateSettingsReader(values)
        for notice in reader.notices { Console.printError("warning: \(file ?? "serve"): \(notice)") }
        for problem in reader.problems { Console.printError(line(problem)) }
        return reader
    }

    /// A problem with the place where its setting was given: an option, or the file.
    func line(_ problem: String) -> String {
        let name = JSONName(String(problem.prefix { !".:[".contains($0) }))
        guard let setting = GateSettings.all.first(where: { $0.name == name.text }), given[name] != nil || file == nil
        else { return "\(file ?? "serve"): \(problem)" }
        return "--" + setting.optionName + problem.dropFirst(name.text.count)
    }

    /// The limit of values in a configuration file; that of a large programmer has some thousand routes.
    private static let valueLimit = 100_000

    private static func read(file: String, onlyRegular: Bool) throws(CommandError) -> [JSONName: JSONValue] {
        let text: [UInt8]
        do { text = try FileBytes.read(file, limit: 1 << 20, onlyRegular: onlyRegular) } catch {
            throw CommandError("\(file): \(error)")
        }
        // Some editors end a line there, and others show what follows as part of a comment.
        let returns = text.indices.filter { text[$0] == UInt8(ascii: "\r") }
        if let alone = returns.first(where: { $0 + 1 == text.count || text[$0 + 1] != UInt8(ascii: "\n") }) {
            let line = text[..<alone].count { $0 == UInt8(ascii: "\n") } + 1
            throw CommandError(
                "\(file):\(line): a carriage return without a line feed; expected lines that end with LF or CRLF")
        }
        let bytes = withoutComments(text)
        do {
            var members = try StrictJSON.readObject(bytes[...], valueLimit: valueLimit).members
            // Names the schema for an editor.
            members["$schema"] = nil
            return members
        } catch {
            throw CommandError("\(file):\(error.reason(in: bytes))")
        }
    }

    /// The text with each line that begins with `//` as white space, so that the places of all else stay as they are.
    private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
        var (kept, begin) = (text, text.startIndex)
        while begin < text.endIndex {
            let end = text[begin...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let content = text[begin..<end].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if content.starts(with: "//".utf8) { for place in begin..<end { kept[place] = UInt8(ascii: " ") } }
            begin = end + 1
        }
        return kept
    }
}
