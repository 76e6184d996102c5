internal import TextEncodings

/// A command of the program: its syntax, and what it does or which commands it has in turn.
struct Command: Sendable {
    let syntax: CommandSyntax
    let commands: [Command]
    private let body: @Sendable ([String]) -> ExitStatus

    /// The last word of the command, by which the one before it knows it.
    var name: String { String(syntax.name.split(separator: " ").last ?? "") }

    /// - Parameter body: Runs the command with the arguments behind its name.
    init(_ syntax: CommandSyntax, run body: @escaping @Sendable ([String]) -> ExitStatus) {
        (self.syntax, commands, self.body) = (syntax, [], body)
    }

    /// Creates a command whose first operand is the name of another one.
    ///
    /// - Parameter answer: Answers an option that needs no other command; `nil` if none such is given.
    init(
        _ syntax: CommandSyntax, _ commands: [Command],
        answer: @escaping @Sendable (Arguments) -> ExitStatus? = { _ in nil }
    ) {
        (self.syntax, self.commands) = (syntax, commands)
        body = { arguments in
            ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
                if let status = answer(given) { return status }
                let names = commands.map(\.name).joined(separator: ", ")
                guard let name = given.operands.first else { throw UsageError("no command given; expected \(names)") }
                guard let command = commands.first(where: { $0.name == name }) else {
                    throw UsageError("no command '\(printable(name, limit: 20))'; expected \(names)")
                }
                return command.run(Array(given.operands.dropFirst()))
            }
        }
    }

    func run(_ arguments: [String]) -> ExitStatus { body(arguments) }

    /// Whether these are the words that call the command, after the name of the program.
    func isCalled(_ words: String) -> Bool {
        syntax.name.split(separator: " ").dropFirst().joined(separator: " ") == words
    }

    /// The command, and all below it.
    var all: [Command] { [self] + commands.flatMap(\.all) }
}
