internal import CommandShell

/// `media-token help`: prints the `--help` of a command.
enum HelpCommand {
    private static let syntax = CommandSyntax(
        name: "media-token help", operands: "[COMMAND]...",
        summary: "Print the help of a command, or of the program.",
        details: """
            It is the text of 'media-token COMMAND --help'.

            Exit status: 0 done, 64 usage.

            Example:
              media-token help keys list
            """,
        groups: [])

    /// - Parameter program: The program whose commands have the help.
    static func command(of program: @escaping @Sendable () -> Command) -> Command {
        Command(syntax) { arguments in
            let command = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
                var command = program()
                for name in given.operands { command = try Command.named(name, among: command.commands) }
                return command
            }
            return command.run(["--help"])
        }
    }
}
