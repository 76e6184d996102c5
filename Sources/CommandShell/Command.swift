internal import TextEncodings

/// A command of the program: its syntax, and what it does or which commands it has in turn.
package struct Command: Sendable {
    package let syntax: CommandSyntax
    package let commands: [Command]
    private let body: @Sendable ([String]) -> ExitStatus

    /// The words that call the command, without the name of the program: `keys list`.
    package var words: [Substring] { Array(syntax.name.split(separator: " ").dropFirst()) }

    /// The command's last word, which its parent command matches: `list` in `media-token keys list`.
    package var name: String { String(words.last ?? Substring(syntax.name)) }

    /// - Parameter body: Runs the command with the arguments after its name.
    package init(_ syntax: CommandSyntax, run body: @escaping @Sendable ([String]) -> ExitStatus) {
        (self.syntax, commands, self.body) = (syntax, [], body)
    }

    /// Creates a command whose first operand is the name of another one.
    ///
    /// - Parameter answer: Handles an option that needs no subcommand, such as `--version`. Returns `nil` if none is given.
    package init(
        _ syntax: CommandSyntax, _ commands: [Command],
        answer: @escaping @Sendable (Arguments) -> ExitStatus? = { _ in nil }
    ) {
        (self.syntax, self.commands) = (syntax, commands)
        body = { arguments in
            ArgumentParser.parse(syntax, arguments, stopsAtOperand: true) { (given) throws(UsageError) in
                if let status = answer(given) { return status }
                let names = commands.map(\.name).joined(separator: ", ")
                guard let name = given.operands.first else { throw UsageError("no command given; expected \(names)") }
                return try Self.named(name, among: commands).run(Array(given.operands.dropFirst()))
            }
        }
    }

    /// The command of this name; a usage error names the nearest one, or all.
    package static func named(_ name: String, among commands: [Command]) throws(UsageError) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let hint = Spelling.hint(for: name, among: commands.map(\.name))
        throw UsageError("no command '\(printable(name, limit: 20))'" + hint)
    }

    package func run(_ arguments: [String]) -> ExitStatus { body(arguments) }

    /// The command, and all below it.
    package var all: [Command] { [self] + commands.flatMap(\.all) }
}
