internal import CommandShell

/// `media-token keys`: runs one of its own subcommands.
enum KeysCommand {
    static let command = Command(
        syntax,
        [
            KeysListCommand.command, KeysImportCommand.command, KeysGenerateCommand.command, KeysRotateCommand.command,
        ])

    private static let syntax = CommandSyntax(
        name: "media-token keys", operands: "list|import|generate|rotate [ARG...]",
        summary: "List, import, generate or rotate keys.",
        details: """
            Commands:
              list       show the keys that verify would load, and why others are refused
              import     take the public keys out of a JKS, a PKCS#12 or a certificate
              generate   make a development key pair, or a key of playback grants
              rotate     put a key of playback grants into a gate's settings, or take it out

            'media-token keys COMMAND --help' shows the details.

            Example:
              media-token keys import Tests/Vectors/keystores/trust.jks \\
                --password 123456 --to imported
            """)
}
