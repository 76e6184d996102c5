internal import CommandShell
internal import Glibc

/// The program `media-token-sandbox`. Each subcommand has a file of its own.
@main
enum SandboxCommand {
    private static let command: Command = Command(
        syntax,
        [
            ServeCommand.command, DemoCommand.command, CardsCommand.command, SSOCommand.command, DeviceCommand.command,
            CrowdCommand.command,
            HelpCommand.command(of: "media-token-sandbox", example: "crowd") { command },
        ],
        version: { Console.print("media-token-sandbox \(ProgramVersion.text)") })

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox", operands: "COMMAND [ARG...]",
        summary: "Play Adobe Pass, its devices and their viewers, to test what verifies media tokens.",
        details: """
            Commands:
              serve      run a stand-in for Adobe Pass
              demo       log in, play, and see a second play denied, in a browser
              cards      print what the names of MVPDs and resources bring about
              sso        tell whether two apps on a device share a login
              device     drive an app with Adobe's SDK, line by line
              crowd      send many devices to a gate, and compare what happens with what must
              help       print the help of a command

            Everything that it issues is a sandbox's. Never load its keys into a gate that viewers can reach.

            Exit status: 0 done, 1 not as expected, 2 cannot, 64 usage.

            Example:
              media-token-sandbox cards
            """)

    static func main() {
        let status = command.run(Array(CommandLine.arguments.dropFirst()))
        Console.finish()
        exit(status.rawValue)
    }
}
