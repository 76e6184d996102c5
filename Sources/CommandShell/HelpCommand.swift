/// `help`: prints the `--help` of a command.
package enum HelpCommand {
    /// Makes the command `help` of a program.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - example: The words of a command, such as `keys list`, which the help of `help` shows as its example.
    ///   - program: The program whose commands have the help.
    package static func command(
        of name: String, example: String, _ program: @escaping @Sendable () -> Command
    ) -> Command {
        let syntax = CommandSyntax(
            name: "\(name) help", operands: "[COMMAND]...",
            summary: "Print the help of a command, or of the program.",
            details: """
                It is the text of '\(name) COMMAND --help'.

                Exit status: 0 done, 64 usage.

                Example:
                  \(name) help \(example)
                """)
        return Command(syntax) { (operands) throws(UsageError) in
            var command = program()
            // The help of a command without commands covers its operands, such as `stat` in `help replays stat`.
            for name in operands where !command.commands.isEmpty {
                command = try Command.named(name, among: command.commands)
            }
            return command.run(["--help"])
        }
    }
}
