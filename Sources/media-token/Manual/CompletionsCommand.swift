internal import CommandShell

/// `media-token completions`: prints the script by which a shell completes this program's commands.
enum CompletionsCommand {
    private static let syntax = CommandSyntax(
        name: "media-token completions", operands: "bash|zsh|fish",
        summary: "Print the completions of commands, options and their words for a shell.",
        details: """
            The Debian package installs them. Without it, put them where the shell looks.

            Examples:
              mkdir -p ~/.local/share/bash-completion/completions
              media-token completions bash > \\
                ~/.local/share/bash-completion/completions/media-token
              mkdir -p ~/.config/fish/completions
              media-token completions fish > ~/.config/fish/completions/media-token.fish
            """)

    /// - Parameter program: The program whose commands are completed.
    static func command(of program: @escaping @Sendable () -> Command) -> Command {
        Command(syntax) { (operands) throws(UsageError) in
            guard operands.count == 1, let shell = Completions(rawValue: operands[0]) else {
                throw UsageError("expected one of \(Completions.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            Console.print(shell.script(of: program()))
            return .success
        }
    }
}
