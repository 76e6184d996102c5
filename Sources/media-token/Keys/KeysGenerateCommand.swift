internal import Basics
internal import CommandShell
internal import Glibc
internal import Settings
internal import TokenCrypto

/// `media-token keys generate`: makes a key pair for development and tests, or a secret for playback grants.
enum KeysGenerateCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token keys generate", operands: "",
        summary: "Make a development key pair to sign tokens with, or a key of playback grants.",
        details: """
            Writes development.key (private, mode 0600) and development.pem (public) to DIR. With --grant, writes a new \
            secret to FILE, for the key-file of a route's grant or for viewer-key-file: mode 0600, or for root 0640 with \
            the group of FILE's directory, so that a gate of that group reads it. Neither replaces a file.

            Exit status: 0 done, 2 a file cannot be written, 64 usage.

            Examples:
              media-token keys generate --to dev
              media-token keys generate --grant --to grant.key
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([
            .number("bits", "N", "Make a key of N bits", 1024...8192, default: 2048, \.bits),
            .flag("grant", "Make a secret of 32 bytes, in hexadecimal", \.isForGrants),
            .text(
                "to", "DIR | FILE", "Write to DIR, which is made if its parent exists, or with --grant to FILE",
                \.place
            ).required,
        ])

        var bits = 2048
        var isForGrants = false
        var place: String?

        func check(_ given: inout SettingsObject) {
            if isForGrants { given.refuse(["bits"], withoutEffect: "with --grant") }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let place = invocation.place ?? ""
        if invocation.isForGrants {
            try writeSecret(to: place)
            Console.print(place)
            return .success
        }
        let (privateText, publicText, fingerprint) = try CommandError.wrap {
            let key = try RSASigningKey.generate(bits: invocation.bits)
            return (try key.pemText(), try key.publicKey.pemText(), key.publicKey.fingerprint.hexadecimal)
        }
        try NewFile.makeDirectory(place)
        // The public key is written first: a private key left behind by a failure would block the next attempt.
        try NewFile.write(publicText, to: "\(place)/development.pem", mode: 0o644)
        try NewFile.write(privateText, to: "\(place)/development.key", mode: 0o600)
        Console.print("\(place)/development.pem  \(invocation.bits) bits  sha256 \(fingerprint)")
        return .success
    }

    /// Writes a new secret of 32 bytes, in hexadecimal. One that root makes can be read by the group of its directory,
    /// since the gate runs as another user.
    static func writeSecret(to path: String) throws(CommandError) {
        let isRoot = geteuid() == 0
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try NewFile.write(secret.hexadecimal + "\n", to: path, mode: isRoot ? 0o640 : 0o600, ofGroupOfDirectory: isRoot)
    }
}
