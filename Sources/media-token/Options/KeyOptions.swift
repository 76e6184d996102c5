internal import CommandShell
internal import Files
internal import MediaToken
internal import MediaTokenGate
internal import TokenCrypto

/// The options that name verification keys, for every command that takes some.
struct KeyOptions {
    static let group = OptionGroup(
        heading: "Keys:",
        options: GateSettings.settings(named: ["keys"]).map(\.option) + [
            CommandOption("key", "FILE", "Load PEM, DER, a certificate, PKCS#12 or JKS (repeatable)"),
            CommandOption("password", "P", "Password of a PKCS#12 or JKS; others on this machine can see it"),
            CommandOption("password-file", "F", "Read the password from the first line of a file"),
        ] + GateSettings.settings(named: ["min-rsa-bits"]).map(\.option) + [
            CommandOption("ignore-certificate-dates", nil, "Use certificates outside of their validity (unsafe)"),
            withIssuers,
        ])

    static let withIssuers = CommandOption(
        "with-issuers", nil, "Load a certificate that issued another one of its file too")

    private static let passwordFileLimit = 4096

    let paths: [String]
    private let password: String?
    private let passwordFile: String?
    private let requirements: KeyRequirements

    /// - Parameter operands: further key files and directories, if the command accepts them as operands.
    init(_ given: Arguments, operands: [String] = []) throws(UsageError) {
        paths = given.all("keys") + given.all("key") + operands
        password = try given.one("password")
        passwordFile = try given.one("password-file")
        guard password == nil || passwordFile == nil else {
            throw UsageError("--password and --password-file are given; expected one of them")
        }
        let bits = try given.number("min-rsa-bits", in: Int64(KeyRequirements.lowestMinimumRSABits)...8192)
        requirements = KeyRequirements(
            minimumRSABits: bits.map(Int.init) ?? GateSettings().minimumRSABits,
            unsafeIgnoringCertificateDates: given.has("ignore-certificate-dates"),
            acceptingIssuers: given.has("with-issuers"))
    }

    /// Loads the keys, and prints a warning on standard error for each refused key of a directory, and for what was left out.
    ///
    /// - Parameter own: a key of this process, which is trusted too, and need not meet any requirement.
    func load(unsafelyTrusting own: RSAPublicKey? = nil) throws(CommandError) -> KeyRing {
        let keys = try ring(trusting: own)
        for key in keys.refused + keys.leftOut { Console.printError("warning: \(key)") }
        return keys
    }

    /// The keys that ``load(unsafelyTrusting:)`` would load, those that it would refuse, and what it would leave out.
    func survey() throws(CommandError) -> (usable: [VerificationKey], refused: [RefusedKey], leftOut: [RefusedKey]) {
        let password = try readPassword()
        do { return try KeyRing.survey(paths, password: password, requirements: requirements) } catch {
            throw CommandError("\(error)")
        }
    }

    /// Loads the keys, and those of `files`, without a word to the user.
    func ring(with files: [KeyBytes]) throws(CommandError) -> KeyRing? {
        paths.isEmpty && files.isEmpty ? nil : try ring(and: files)
    }

    private func ring(and files: [KeyBytes] = [], trusting own: RSAPublicKey? = nil) throws(CommandError) -> KeyRing {
        let password = try readPassword()
        do {
            return try KeyRing(
                loading: paths, and: files, unsafelyTrusting: own, password: password, requirements: requirements)
        } catch { throw CommandError("\(error)") }
    }

    /// Loads the verification keys of a gate, and warns of those that a sandbox has published.
    static func load(_ settings: GateSettings) throws(CommandError) -> KeyRing {
        let keys = try KeyOptions(settings).load()
        for key in keys.keys where key.isSandbox {
            Console.printError(
                "warning: \(key.file): key '\(key.name)' is a sandbox's, which signs for anybody; load it only for tests"
            )
        }
        return keys
    }

    /// The loaded keys of a gate without those that are gone.
    static func withdraw(from keys: KeyRing, by settings: GateSettings) -> KeyRing {
        let (options, unread) = (KeyOptions(settings), settings.files.filter { !$0.canBeReadAgain }.map(\.path))
        let hasPassword = options.passwordFile.map { !unread.contains($0) } ?? true
        return keys.withdrawing(
            from: options.paths, except: unread, password: hasPassword ? try? options.readPassword() : nil,
            requirements: options.requirements)
    }

    private init(_ settings: GateSettings) {
        (paths, password, passwordFile) = (settings.keys, nil, settings.passwordFile)
        requirements = KeyRequirements(minimumRSABits: settings.minimumRSABits, unsafeIgnoringCertificateDates: false)
    }

    func readPassword() throws(CommandError) -> String? {
        guard let passwordFile else { return password }
        do {
            let bytes = try FileBytes.read(passwordFile, limit: Self.passwordFileLimit)
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return String(decoding: line, as: UTF8.self)
        } catch {
            throw CommandError("\(passwordFile): \(error)")
        }
    }
}

extension VerificationKey {
    /// Whether the certificate or the file's name says that the key is that of a `media-token-sandbox`.
    fileprivate var isSandbox: Bool {
        "\(name) \(file.split(separator: "/").last ?? "")".lowercased().contains("sandbox")
    }
}
