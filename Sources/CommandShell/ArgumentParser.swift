internal import CArgp
internal import Glibc
internal import TextEncodings

/// One option of a command, as `--help` shows it.
package struct CommandOption: Sendable {
    package let name: String
    /// The placeholder for the value in the help; `nil` for a flag.
    package let value: String?
    package let help: String

    package init(_ name: String, _ value: String? = nil, _ help: String) {
        (self.name, self.value, self.help) = (name, value, help)
    }
}

/// The options under one heading of the help.
package struct OptionGroup: Sendable {
    package let heading: String
    package let options: [CommandOption]

    package init(heading: String, options: [CommandOption]) {
        (self.heading, self.options) = (heading, options)
    }
}

/// The syntax of a command, in the words of its `--help`.
package struct CommandSyntax: Sendable {
    /// The command as the user types it: `media-token verify`.
    package let name: String
    /// The operands, which follow the options: `[TOKEN | @FILE | -]`.
    package let operands: String
    package let summary: String
    /// The text after the options in the help: details, exit status, an example.
    package let details: String
    package let groups: [OptionGroup]

    package init(name: String, operands: String, summary: String, details: String, groups: [OptionGroup]) {
        (self.name, self.operands, self.summary) = (name, operands, summary)
        (self.details, self.groups) = (details, groups)
    }

    /// The words of which the first operand is one; none if the first operand may be anything.
    package var firstOperands: [String] {
        let first = operands.prefix { $0 != " " }
        return first.contains("|") ? first.split(separator: "|").map(String.init) : []
    }
}

/// The options and operands given on a command line.
package struct Arguments {
    package fileprivate(set) var values: [String: [String]] = [:]
    package fileprivate(set) var operands: [String] = []

    package init(values: [String: [String]] = [:], operands: [String] = []) {
        (self.values, self.operands) = (values, operands)
    }

    package func has(_ option: String) -> Bool { values[option] != nil }

    /// The values of an option that may be repeated.
    package func all(_ option: String) -> [String] { values[option] ?? [] }

    /// The value of an option that may be given once.
    package func one(_ option: String) throws(UsageError) -> String? {
        let given = all(option)
        guard given.count <= 1 else { throw UsageError("--\(option) is given \(given.count) times; expected once") }
        return given.first
    }

    /// The value of an option as a whole number within `range`; `nil` if the option is not given.
    package func number(_ option: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
        guard let text = try one(option) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw UsageError(
                "--\(option) is '\(text)'; expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The value of an option that accepts a few words; `nil` if the option is not given.
    package func choice<Value>(
        _ option: String, _ make: (String) -> Value?, _ words: [String]
    ) throws(UsageError) -> Value? {
        guard let text = try one(option) else { return nil }
        guard let value = make(text) else {
            throw UsageError("--\(option) is '\(text)'; expected \(words.joined(separator: ", "))")
        }
        return value
    }
}

/// An invalid command line. It ends the program with exit status 64.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Reads command lines with glibc's argp, which also writes `--help` and `--usage`. No other file imports argp.
package enum ArgumentParser {
    /// Reads `arguments`, and returns what `use` makes of them.
    ///
    /// Ends the program with exit status 64 on a ``UsageError`` or an unknown option, and with 0 after `--help`, if that is all that
    /// was asked for: the status 0 of a longer command line is a verdict.
    ///
    /// - Parameter stopsAtOperand: Whether the first operand ends the options, as in a command that has subcommands.
    package static func parse<Value>(
        _ syntax: CommandSyntax, _ arguments: [String], stopsAtOperand: Bool = false,
        use: (Arguments) throws(UsageError) -> Value
    ) -> Value {
        do throws(UsageError) {
            try refuseUnknown(in: arguments, of: syntax, stopsAtOperand)
            return try use(read(syntax, arguments, stopsAtOperand))
        } catch {
            Console.printError(error.message, from: syntax.name)
            Console.writeProgress("Try '\(syntax.name) --help' for more.\n")
            exit(EX_USAGE)
        }
    }

    /// The options that end a command with 0 and no verdict.
    private static let standAlone: Set = ["help", "usage", "version"]

    /// Refuses an option that the command does not have, an ambiguous one, and an abbreviated flag: some flags are unsafe, and must
    /// not be set by accident. argp would accept the last, and print the others unchanged, including any token in them.
    private static func refuseUnknown(
        in arguments: [String], of syntax: CommandSyntax, _ stopsAtOperand: Bool
    ) throws(UsageError) {
        let options =
            syntax.groups.flatMap(\.options) + [CommandOption("help", nil, ""), CommandOption("usage", nil, "")]
        let isAlone = arguments.count == (syntax.firstOperands.contains(arguments.first ?? "") ? 2 : 1)
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            // argp compares bytes, of which a character may have several.
            let hyphens = argument.utf8.prefix(2).prefix { $0 == UInt8(ascii: "-") }.count
            guard hyphens > 0, argument != "-" else {
                if stopsAtOperand { return }
                continue
            }
            let name = argument == "-h" ? "help" : argument.dropFirst(hyphens).prefix { $0 != "=" }
            let possible =
                options.filter { $0.name == name }.first.map { [$0] } ?? options.filter { $0.name.hasPrefix(name) }
            guard let option = possible.first, possible.count == 1, hyphens == 2 || argument == "-h" else {
                let names =
                    possible.isEmpty
                    ? [Spelling.nearest(to: String(name), among: options.map(\.name))]
                    : possible.count > 3 ? [] : possible.map(\.name)
                let hint = names.compactMap { $0.map { "--\($0)" } }.joined(separator: " or ")
                throw UsageError(
                    "no option '\(argument.prefix(hyphens))\(printable(String(name), limit: 20))'"
                        + (hint.isEmpty ? "" : "; did you mean \(hint)?"))
            }
            if option.value == nil, option.name != name {
                throw UsageError("spell --\(option.name) out; flags are not abbreviated")
            }
            guard !standAlone.contains(option.name) || isAlone else {
                throw UsageError(
                    "\(argument) is given with other arguments; expected it alone, or after -- if it is no option")
            }
            if option.value != nil, !argument.contains("=") { _ = rest.popFirst() }
        }
    }

    private static func read(
        _ syntax: CommandSyntax, _ arguments: [String], _ stopsAtOperand: Bool
    ) -> Arguments {
        let arena = CStrings()
        let options = Options(syntax, arena)
        let session = Session(options.names, stopsAtOperand: stopsAtOperand)
        var argumentPointers = ([syntax.name] + arguments).map(arena.pointer) + [nil]
        withExtendedLifetime(arena) {
            options.table.withUnsafeBufferPointer { table in
                var parser = argp()
                parser.options = table.baseAddress
                parser.parser = Session.callback
                parser.args_doc = UnsafePointer(arena.pointer(syntax.operands))
                parser.doc = UnsafePointer(arena.pointer(syntax.summary + "\u{0B}" + syntax.details))
                argp_parse(
                    &parser, Int32(argumentPointers.count - 1), &argumentPointers,
                    UInt32((stopsAtOperand ? ARGP_IN_ORDER : 0) | ARGP_NO_HELP), nil,
                    Unmanaged.passUnretained(session).toOpaque()
                )
            }
        }
        return session.arguments
    }
}

/// argp's table of a command's options.
private struct Options {
    private(set) var table: [argp_option] = []
    private(set) var names: [Int32: String] = [:]

    /// The first key of an option. Smaller keys are letters, which argp would offer as short options.
    private static let firstKey: Int32 = 256

    init(_ syntax: CommandSyntax, _ arena: CStrings) {
        for (number, group) in syntax.groups.enumerated() {
            table.append(Self.entry(help: group.heading, group: number + 1, arena))
            for option in group.options {
                let key = Self.firstKey + Int32(names.count)
                names[key] = option.name
                var entry = Self.entry(help: option.help, group: number + 1, arena)
                entry.name = UnsafePointer(arena.pointer(option.name))
                entry.key = key
                entry.arg = option.value.map { UnsafePointer(arena.pointer($0)) } ?? nil
                table.append(entry)
            }
        }
        for (key, name, help) in Self.help {
            var entry = Self.entry(help: help, group: -1, arena)
            (entry.name, entry.key) = (UnsafePointer(arena.pointer(name)), key)
            table.append(entry)
        }
        table.append(argp_option())
    }

    /// The options that every command has in the place of argp's own, which lack `-h`.
    private static let help: [(key: Int32, name: String, text: String)] = [
        (helpKey, "help", "Print this help"), (usageKey, "usage", "Print the names of the options"),
    ]
    /// A letter, by which the option has a short form: `-h`.
    static let helpKey = Int32(UInt8(ascii: "h"))
    static let usageKey: Int32 = 255

    private static func entry(help: String, group: Int, _ arena: CStrings) -> argp_option {
        var entry = argp_option()
        entry.doc = UnsafePointer(arena.pointer(help))
        entry.group = Int32(group)
        return entry
    }
}

/// Collects what argp's callback receives for one command line.
private final class Session {
    private let names: [Int32: String]
    private let stopsAtOperand: Bool
    private(set) var arguments = Arguments()

    init(_ names: [Int32: String], stopsAtOperand: Bool) {
        self.names = names
        self.stopsAtOperand = stopsAtOperand
    }

    static let callback: argp_parser_t = { key, argument, state in
        guard let state, let input = state.pointee.input else { return EINVAL }
        let session = Unmanaged<Session>.fromOpaque(input).takeUnretainedValue()
        return session.take(key, argument.map { String(cString: $0) }, state)
    }

    private func take(_ key: Int32, _ value: String?, _ state: UnsafeMutablePointer<argp_state>) -> error_t {
        if let name = names[key] {
            arguments.values[name, default: []].append(value ?? "")
        } else if key == ARGP_KEY_ARG {
            arguments.operands.append(value ?? "")
            if stopsAtOperand { takeRest(state) }
        } else if key == Options.helpKey || key == Options.usageKey {
            let shown =
                key == Options.usageKey
                ? ARGP_HELP_USAGE : ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC
            argp_state_help(state, state.pointee.out_stream, UInt32(shown | ARGP_HELP_EXIT_OK))
        } else {
            // ARGP_ERR_UNKNOWN, a macro: the key belongs to none of the command's options.
            return E2BIG
        }
        return 0
    }

    /// Takes the subcommand's own arguments, which argp must not parse.
    private func takeRest(_ state: UnsafeMutablePointer<argp_state>) {
        while state.pointee.next < state.pointee.argc {
            if let argument = state.pointee.argv[Int(state.pointee.next)] {
                arguments.operands.append(String(cString: argument))
            }
            state.pointee.next += 1
        }
    }
}

/// Owns C strings for as long as argp may read them.
private final class CStrings {
    private var owned: [UnsafeMutablePointer<CChar>] = []

    func pointer(_ text: String) -> UnsafeMutablePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        owned.append(copy)
        return copy
    }

    deinit {
        for pointer in owned { free(pointer) }
    }
}
