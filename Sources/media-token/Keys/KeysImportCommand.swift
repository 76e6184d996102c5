internal import Basics
internal import CommandShell
internal import Settings
internal import TokenCrypto

/// `media-token keys import`: extracts the public keys and certificates of a key file.
enum KeysImportCommand {
    static let command = Command(syntax, Invocation.self, run: importKeys)

    private static let syntax = CommandSyntax(
        name: "media-token keys import", operands: "FILE",
        summary: "Write the public keys and certificates of a JKS, a PKCS#12 or another key file as PEM files.",
        details: """
            Each goes to a file of its own in DIR, named after FILE, and its fingerprint is printed: the SHA-256 that \
            'openssl pkey -pubin -outform der | sha256sum' gives. A private key in FILE is left where it is. What else \
            is left out is named, such as the issuer of another certificate. Whether a key is good enough is checked \
            when it is loaded.

            Exit status: 0 done, 2 the file cannot be read or written, or has nothing to import, 64 usage.

            Example:
              media-token keys import Tests/Vectors/keystores/trust.jks \\
                --password 123456 --to imported
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            SettingsTable([
                .text("to", "DIR", "Write to DIR, which is made if its parent exists", \.directory).required
            ]), KeyOptions.table.some("password", "password-file", "with-issuers").within(\.keys))

        var file = ""
        var directory: String?
        var keys = KeyOptions()

        mutating func take(_ operands: [String]) throws(UsageError) {
            guard operands.count == 1 else { throw UsageError("expected one key file") }
            file = operands[0]
        }

        func check(_ given: inout SettingsObject) { keys.check(&given) }
    }

    @Sendable private static func importKeys(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let file: KeyFile
        let password = try invocation.keys.readPassword()
        do {
            file = try KeyFile(
                reading: FileBytes.read(invocation.file, limit: KeyFile.sizeLimit), password: password,
                withIssuers: invocation.keys.acceptsIssuers)
        } catch {
            throw CommandError("\(invocation.file): \(error)")
        }
        for text in file.leftOut { Console.printWarning("\(invocation.file): \(text)") }
        guard !file.entries.isEmpty else {
            let advice = file.commandForPublicKeys(in: invocation.file).map {
                "; if its private key is RSA, run '\($0)'"
            }
            throw CommandError("\(invocation.file): holds no public key or certificate\(advice ?? "")")
        }
        let directory = invocation.directory ?? ""
        try NewFile.makeDirectory(directory)
        if file.holdsPrivateKey {
            Console.printWarning("\(invocation.file) holds a private key, which was not imported")
        }
        var count = 0
        for (index, entry) in file.entries.enumerated() {
            let number = file.entries.count > 1 ? "-\(index + 1)" : ""
            let path = "\(directory)/\(stem(of: invocation.file))\(number).pem"
            switch entry {
            case .key(let key): try write(key, try CommandError.wrap { try key.pemText() }, to: path)
            case .certificate(let certificate):
                try write(certificate.key, try CommandError.wrap { try certificate.pemText() }, to: path)
            case .unusable(let error):
                Console.printWarning("\(invocation.file): \(error); not imported")
                continue
            }
            count += 1
        }
        return count > 0 ? .success : .undecided
    }

    private static func write(_ key: RSAPublicKey, _ text: String, to path: String) throws(CommandError) {
        try NewFile.write(text, to: path, mode: 0o644)
        Console.print("\(path)  \(key.bits) bits  sha256 \(key.fingerprint.hexadecimal)")
    }

    private static func stem(of path: String) -> String {
        let name = path.split(separator: "/").last ?? "key"
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        return String(name[..<dot])
    }
}
