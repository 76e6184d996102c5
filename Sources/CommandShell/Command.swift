internal import Basics
package import Settings

/// What a command is given: the values of its options, and its operands.
package protocol CommandValues: Sendable {
    static var table: SettingsTable<Self> { get }

    init()

    /// Takes the operands, before the options are read.
    mutating func take(_ operands: [String]) throws(UsageError)

    /// Checks what depends on several options and operands, once all are read.
    mutating func check(_ given: inout SettingsObject)

    /// Looks for problems beyond the command line, for a user whose command line has some.
    func furtherProblems() -> [String]
}

extension CommandValues {
    package mutating func take(_ operands: [String]) throws(UsageError) {
        guard let operand = operands.first else { return }
        throw UsageError("'\(printable(operand))' is given; expected options only")
    }

    package mutating func check(_ given: inout SettingsObject) {}

    package func furtherProblems() -> [String] { [] }

    /// Reads options and operands over the values that there are.
    ///
    /// - Returns: All problems, in the order in which they were found.
    package mutating func read(_ options: [String: [String]], operands: [String] = []) -> [String] {
        var given = Self.table.object(options)
        do throws(UsageError) { try take(operands) } catch { given.refuse(nil, error.message) }
        Self.table.read(&given, into: &self)
        check(&given)
        return given.problems.map(\.description)
    }
}

/// A command of the program: its syntax, and what it does or which commands it has in turn.
package struct Command: Sendable {
    package let syntax: CommandSyntax
    package let commands: [Command]
    /// Runs the command with its arguments, unless there are problems with them.
    private let body: @Sendable (Arguments, _ problems: [String]) throws(UsageErrors) -> ExitStatus

    /// The words that call the command, without the name of the program: `keys list`.
    package var words: [Substring] { Array(syntax.name.split(separator: " ").dropFirst()) }

    /// The command's last word, which its parent command matches: `list` in `media-token keys list`.
    package var name: String { String(words.last ?? Substring(syntax.name)) }

    /// - Parameter run: Runs the command. An error that it throws is printed, and ends the command with status 2.
    package init<Values: CommandValues>(
        _ syntax: CommandSyntax, _: Values.Type, run: @escaping @Sendable (Values) throws(CommandError) -> ExitStatus
    ) {
        (self.syntax, commands) = (syntax.with(Values.table), [])
        body = { (arguments, problems) throws(UsageErrors) in
            var values = Values()
            let problems = problems + values.read(arguments.values, operands: arguments.operands)
            guard problems.isEmpty else { throw UsageErrors(problems + values.furtherProblems()) }
            return CommandError.report { () throws(CommandError) in try run(values) }
        }
    }

    /// Creates a command that takes operands alone, and may refuse them.
    package init(_ syntax: CommandSyntax, run: @escaping @Sendable ([String]) throws(UsageError) -> ExitStatus) {
        (self.syntax, commands) = (syntax, [])
        body = { (arguments, problems) throws(UsageErrors) in
            guard problems.isEmpty else { throw UsageErrors(problems) }
            do throws(UsageError) { return try run(arguments.operands) } catch { throw UsageErrors([error.message]) }
        }
    }

    /// Creates a command whose first operand is the name of another one.
    ///
    /// - Parameter version: Prints the version, for `--version`; `nil` for a command without that option.
    package init(_ syntax: CommandSyntax, _ commands: [Command], version: (@Sendable () -> Void)? = nil) {
        self.syntax = version == nil ? syntax : syntax.with(Version.table)
        self.commands = commands
        body = { (arguments, problems) throws(UsageErrors) in
            guard problems.isEmpty else { throw UsageErrors(problems) }
            if let version, !arguments.values.isEmpty {
                version()
                return .success
            }
            do throws(UsageError) {
                let names = commands.map(\.name).joined(separator: ", ")
                guard let name = arguments.operands.first else {
                    throw UsageError("no command given; expected \(names)")
                }
                return try Self.named(name, among: commands).run(Array(arguments.operands.dropFirst()))
            } catch { throw UsageErrors([error.message]) }
        }
    }

    /// The command of this name; a usage error names the nearest one, or all.
    package static func named(_ name: String, among commands: [Command]) throws(UsageError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let hint = Spelling.hint(for: name, among: commands.map(\.name))
        throw UsageError("no command '\(printable(name, limit: 20))'" + hint)
    }

    /// Runs the command with the arguments after its name. Every problem with them is printed, and ends it with status
    /// 64.
    package func run(_ line: [String]) -> ExitStatus {
        let reader = CommandLineReader(line, of: syntax, stopsAtOperand: !commands.isEmpty)
        if reader.asksForHelp {
            Console.print(syntax.help(width: Console.width))
            return .success
        }
        do throws(UsageErrors) {
            return try body(reader.arguments, reader.problems)
        } catch {
            for problem in error.problems { Console.printError(problem, from: syntax.name) }
            Console.writeProgress("Try '\(syntax.name) --help' for more.\n")
            return .usage
        }
    }

    /// The command, and all below it.
    package var all: [Command] { [self] + commands.flatMap(\.all) }
}

/// All that is wrong with a command line.
private struct UsageErrors: Error {
    let problems: [String]

    init(_ problems: [String]) { self.problems = problems }
}

/// The option of a program itself.
private struct Version {
    static let table = SettingsTable<Version>([.flag("version", "Print the version", \.isAsked)])
    var isAsked = false
}
