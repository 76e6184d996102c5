internal import CommandShell
internal import TokenCrypto

/// `media-token keys generate`: makes a key pair for development and tests.
enum KeysGenerateCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token keys generate", operands: "",
        summary: "Make a development key pair to sign tokens with.",
        details: """
            Writes development.key (private, mode 0600) and development.pem (public) to DIR. Neither replaces a file.

            Exit status: 0 done, 2 a file cannot be written, 64 usage.

            Example:
              media-token keys generate --to dev
            """,
        groups: [
            OptionGroup(
                heading: "Options:",
                options: [
                    CommandOption("bits", "N", "Length of the modulus (default 2048, from 1024 to 8192)"),
                    CommandOption("to", "DIR", "Directory to write to; made if its parent exists"),
                ])
        ])

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let task = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
            guard given.operands.isEmpty else {
                throw UsageError("'\(given.operands[0])' is given; expected options only")
            }
            guard let directory = try given.one("to") else { throw UsageError("no --to given") }
            return (bits: Int(try given.number("bits", in: 1024...8192) ?? 2048), directory: directory)
        }
        return CommandError.report { () throws(CommandError) in
            let (privateText, publicText): (String, String)
            let fingerprint: String
            do {
                let key = try RSASigningKey.generate(bits: task.bits)
                privateText = try key.pemText()
                publicText = try key.publicKey.pemText()
                fingerprint = key.publicKey.fingerprint.hexadecimal
            } catch {
                throw CommandError("\(error)")
            }
            try NewFile.makeDirectory(task.directory)
            // The public key is written first: a private key left behind by a failure would block the next attempt.
            try NewFile.write(publicText, to: "\(task.directory)/development.pem", mode: 0o644)
            try NewFile.write(privateText, to: "\(task.directory)/development.key", mode: 0o600)
            Console.print("\(task.directory)/development.pem  \(task.bits) bits  sha256 \(fingerprint)")
            return .success
        }
    }
}
