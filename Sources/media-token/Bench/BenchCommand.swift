internal import CommandShell

/// `media-token bench`: runs one of its own subcommands.
enum BenchCommand {
    static let command = Command(syntax, [BenchVerifyCommand.command, BenchGateCommand.command])

    private static let syntax = CommandSyntax(
        name: "media-token bench", operands: "verify|gate [ARG...]",
        summary: "Measure how many tokens a machine can verify, or a gate can answer for.",
        details: """
            Commands:
              verify     verify tokens in this process, beside the bare RSA operations of libcrypto
              gate       ask a running gate about tokens, flat out or at a set rate

            'media-token bench COMMAND --help' shows the details.

            Example:
              media-token bench verify --count 1000 --threads 2 --seconds 2
            """)
}
