internal import CommandShell
internal import Glibc
internal import MediaToken
internal import TokenCrypto

/// The program `media-token`. Each subcommand has a file of its own.
@main
enum MediaTokenCommand {
    private static let command: Command = Command(
        syntax,
        [
            VerifyCommand.command, InspectCommand.command, IssueCommand.command, KeysCommand.command,
            ReplaysCommand.command, ServeCommand.command, HealthCommand.command, RefusalsCommand.command,
            GrantCommand.command, DemoCommand.command, BenchCommand.command,
            CompletionsCommand.command(of: { command }),
            ManualCommand.command(of: { command }),
            HelpCommand.command(of: "media-token", example: "keys list") { command },
        ],
        version: {
            Console.print("media-token \(ProgramVersion.text)")
            Console.print("verifies \(SignatureEngine.description)")
        })

    private static let syntax = CommandSyntax(
        name: "media-token", operands: "COMMAND [ARG...]",
        summary: "Verify Adobe Pass short media tokens: one token opens one resource, once.",
        details: """
            Commands:
              verify     decide whether tokens open a resource, with the reason if not
              inspect    find tokens in any text, and show what they hold
              issue      sign tokens for tests and load
              keys       list, import or generate keys
              replays    show or sweep a replay store, or look a token up in it
              serve      run the gate, an HTTP authorization service
              health     ask the gate of this host whether it is ready
              refusals   sum up what a gate refused, by its log
              grant      create or check a playback grant for a CDN
              demo       run a gate on this machine and ask it
              bench      measure verifications, or a running gate
              completions, manual
                         print completions for a shell; write manual pages
              help       print the help of a command

            'media-token help COMMAND' shows the details.

            Exit status: 0 all valid, 1 at least one rejected, 2 undecided (keys or store), 64 usage.

            Example:
              media-token verify --keys Keys --min-rsa-bits 1024 --requestor MML \\
                --resource TNT --at '2016-03-17 15:02:00 -0700' \\
                @Tests/Vectors/media-token-2016-temppass.txt
            """)

    static func main() {
        ProcessEnd.keepLibcrypto()
        let status = command.run(Array(CommandLine.arguments.dropFirst()))
        Console.finish()
        exit(status.rawValue)
    }
}
