internal import CommandShell
internal import Settings
internal import TokenCrypto

/// `media-token keys generate`: makes a key pair for development and tests.
enum KeysGenerateCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token keys generate", operands: "",
        summary: "Make a development key pair to sign tokens with.",
        details: """
            Writes development.key (private, mode 0600) and development.pem (public) to DIR. Neither replaces a file.

            Exit status: 0 done, 2 a file cannot be written, 64 usage.

            Example:
              media-token keys generate --to dev
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([
            .number("bits", "N", "Make a key of N bits", 1024...8192, default: 2048, \.bits),
            .text("to", "DIR", "Write to DIR, which is made if its parent exists", \.directory).required,
        ])

        var bits = 2048
        var directory: String?
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let (privateText, publicText, fingerprint) = try CommandError.wrap {
            let key = try RSASigningKey.generate(bits: invocation.bits)
            return (try key.pemText(), try key.publicKey.pemText(), key.publicKey.fingerprint.hexadecimal)
        }
        let directory = invocation.directory ?? ""
        try NewFile.makeDirectory(directory)
        // The public key is written first: a private key left behind by a failure would block the next attempt.
        try NewFile.write(publicText, to: "\(directory)/development.pem", mode: 0o644)
        try NewFile.write(privateText, to: "\(directory)/development.key", mode: 0o600)
        Console.print("\(directory)/development.pem  \(invocation.bits) bits  sha256 \(fingerprint)")
        return .success
    }
}
