internal import Basics
internal import CommandShell
internal import MediaTokenGate
internal import Settings

/// The settings of a gate as they are given: options of the command line, and a configuration file.
struct GateOptions {
    static let table = SettingsTable<GateOptions>(
        .group("Configuration", [.text("config", "FILE", "Read settings from a JSON file", \.file)]),
        SettingsTable(
            GateSettings.table.options.map { setting in
                setting.optional.readBy { object, name, options in options.given[JSONName(name)] = object.take(name) }
            }))

    /// The options by which another command finds the gate.
    static let addressTable = SettingsTable<GateOptions>(
        table.options.filter { ["config", "admin"].contains($0.name) })

    /// The settings that options give.
    private var given: [JSONName: JSONValue] = [:]
    /// The path of the configuration file; `nil` without one.
    private(set) var file: String?
    /// The text of the file as it was read last, without its comments, whose places have spaces.
    private(set) var text: [UInt8] = []

    /// Reads the settings of file and command line together, and prints what the operator should know of them. An
    /// option replaces what the file says.
    ///
    /// - Parameter isReload: Whether the file was read before, and must not be a pipe now, for whose writer the gate
    ///   would wait.
    mutating func read(isReload: Bool = false) throws(CommandError) -> GateSettingsReader {
        let reader = try readQuietly(isReload: isReload)
        for line in lines(reader.notices) { Console.printWarning("\(line)") }
        show(reader.problems)
        return reader
    }

    /// Reads the settings as ``read(isReload:)`` does, and prints nothing.
    mutating func readQuietly(isReload: Bool = false) throws(CommandError) -> GateSettingsReader {
        guard let file else { return GateSettingsReader(GateSettings.table.object(given, over: nil)) }
        return try read(Self.content(of: file, onlyRegular: isReload), of: file)
    }

    /// The problems of the settings of file and command line together, without those of the files that they name.
    mutating func problems() -> [String] {
        do throws(CommandError) {
            // The command line's own problems are known.
            return lines(try readQuietly().problems.filter(\.isInFile))
        } catch {
            return [error.message]
        }
    }

    /// Prints problems.
    ///
    /// - Returns: Whether there are none.
    @discardableResult
    func show(_ problems: [SettingProblem]) -> Bool {
        for line in lines(problems) { Console.printError(line) }
        return problems.isEmpty
    }

    /// Problems, each with the place where its setting was given: an option, or a line and a column of the file.
    func lines(_ problems: [SettingProblem]) -> [String] {
        let positions = StrictJSON.positions(of: problems.map(\.place), in: text, valueLimit: Self.valueLimit)
        return zip(problems, positions).map { problem, position in
            guard problem.isInFile else { return "\(problem)" }
            let setting = GateSettings.table.options.first { $0.name == problem.setting }
            if let setting, file == nil || given[JSONName(setting.name)] != nil {
                return "--\(setting.optionName)\(problem.place.dropFirst(setting.name.count)) \(problem.text)"
            }
            return [file ?? "serve", position].compactMap(\.self).joined(separator: ":") + ": \(problem)"
        }
    }

    /// The limit of values in a configuration file; that of a large programmer has some thousand routes.
    static let valueLimit = 100_000

    /// Reads the settings as ``readQuietly(isReload:)`` would if the configuration file had this content.
    mutating func read(_ content: [UInt8], of file: String) throws(CommandError) -> GateSettingsReader {
        self.file = file
        return GateSettingsReader(GateSettings.table.object(given, over: try values(in: content, of: file)))
    }

    /// The content of a configuration file.
    static func content(of file: String, onlyRegular: Bool) throws(CommandError) -> [UInt8] {
        try CommandError.wrap(at: file) { try FileBytes.read(file, limit: 1 << 20, onlyRegular: onlyRegular) }
    }

    private mutating func values(in content: [UInt8], of file: String) throws(CommandError) -> [JSONName: JSONValue] {
        text = content
        // Some editors end a line there, and others show what follows as part of a comment.
        let returns = text.indices.filter { text[$0] == UInt8(ascii: "\r") }
        if let alone = returns.first(where: { $0 + 1 == text.count || text[$0 + 1] != UInt8(ascii: "\n") }) {
            let line = text[..<alone].count { $0 == UInt8(ascii: "\n") } + 1
            throw CommandError(
                "\(file):\(line): a carriage return without a line feed; expected lines that end with LF or CRLF")
        }
        text = Self.withoutComments(text)
        do {
            var members = try StrictJSON.readObject(text[...], valueLimit: Self.valueLimit).members
            // Names the schema for an editor.
            members["$schema"] = nil
            return members
        } catch {
            throw CommandError("\(file):\(error.reason(in: text))")
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
