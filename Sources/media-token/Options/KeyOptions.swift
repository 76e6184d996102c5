internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import Settings
internal import TokenCrypto

/// The options that name verification keys, for every command that takes some.
struct KeyOptions {
    static let table = SettingsTable<KeyOptions>(
        GateSettings.table.some("keys").within(\.gate),
        SettingsTable([
            .texts("key", "FILE", "Load PEM, DER, a certificate, PKCS#12 or JKS", \.files),
            .text(
                "password", "P", "Open a PKCS#12 or JKS with this password; others on this machine can see it",
                \.password),
        ]),
        GateSettings.table.some("password-file", "min-rsa-bits").within(\.gate),
        SettingsTable([
            .flag(
                "ignore-certificate-dates", "Accept certificates outside of their validity period (unsafe)",
                \.ignoresDates),
            .flag("with-issuers", "Load issuing certificates of a file too", \.acceptsIssuers),
        ])
    ).under("Keys")

    /// Key files and directories that are operands of the command.
    var operands: [String] = []
    private var gate = GateSettings()
    private var files: [String] = []
    private var password: String?
    private var ignoresDates = false
    private(set) var acceptsIssuers = false

    init() {}

    private init(_ settings: GateSettings) { gate = settings }

    private static let passwordFileLimit = 4096

    /// The bits of the shortest RSA key that is taken.
    var shortestKey: Int { gate.minimumRSABits }

    var paths: [String] { gate.keys + files + operands }

    private var requirements: KeyRequirements {
        KeyRequirements(
            minimumRSABits: gate.minimumRSABits, unsafeIgnoringCertificateDates: ignoresDates,
            acceptingIssuers: acceptsIssuers)
    }

    func check(_ given: inout SettingsObject) { given.refuseSecond(of: ["password", "password-file"]) }

    /// Refuses the options that say something of keys, if the command line names none.
    func checkThatKeysAreNamed(_ given: inout SettingsObject) {
        guard paths.isEmpty else { return }
        let names = ["password", "password-file", "min-rsa-bits", "ignore-certificate-dates", "with-issuers"]
        given.refuse(names, withoutEffect: "without a key; expected --keys PATH or --key FILE too")
    }

    /// Loads the keys, and prints a warning on standard error for each refused key of a directory, and for what was
    /// left out.
    ///
    /// - Parameter own: A key of this process, which is trusted too, and need not meet any requirement.
    func load(unsafelyTrusting own: RSAPublicKey? = nil) throws(CommandError) -> KeyRing {
        let keys = try ring(trusting: own)
        for key in keys.refused + keys.leftOut { Console.printWarning("\(key)") }
        return keys
    }

    /// The keys that ``load(unsafelyTrusting:)`` would load, those that it would refuse, and what it would leave out.
    func survey() throws(CommandError) -> (usable: [VerificationKey], refused: [RefusedKey], leftOut: [RefusedKey]) {
        let password = try readPassword()
        return try CommandError.wrap {
            try KeyRing.survey(paths, password: password, requirements: requirements)
        }
    }

    /// Loads the keys, and those of `files`, without a word to the user.
    func ring(with files: [KeyBytes]) throws(CommandError) -> KeyRing? {
        paths.isEmpty && files.isEmpty ? nil : try ring(and: files)
    }

    private func ring(and files: [KeyBytes] = [], trusting own: RSAPublicKey? = nil) throws(CommandError) -> KeyRing {
        let password = try readPassword()
        return try CommandError.wrap {
            try KeyRing(
                loading: paths, and: files, unsafelyTrusting: own, password: password, requirements: requirements)
        }
    }

    /// Loads the verification keys of a gate, and warns of those that a sandbox has published.
    static func load(_ settings: GateSettings) throws(CommandError) -> KeyRing {
        let keys = try KeyOptions(settings).load()
        for key in keys.keys where key.isSandbox {
            Console.printWarning(
                "\(key.file): key '\(key.name)' is a sandbox's, which signs for anybody; load it only for tests"
            )
        }
        return keys
    }

    /// The loaded keys of a gate without those that are gone.
    static func withdraw(from keys: KeyRing, by settings: GateSettings) -> KeyRing {
        let (options, unread) = (KeyOptions(settings), settings.files.filter { !$0.canBeReadAgain }.map(\.path))
        let hasPassword = settings.passwordFile.map { !unread.contains($0) } ?? true
        return keys.withdrawing(
            from: options.paths, except: unread, password: hasPassword ? try? options.readPassword() : nil,
            requirements: options.requirements)
    }

    func readPassword() throws(CommandError) -> String? {
        guard let file = gate.passwordFile else { return password }
        let bytes = try CommandError.wrap(at: file) { try FileBytes.read(file, limit: Self.passwordFileLimit) }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }
}

extension VerificationKey {
    /// Whether the certificate or the file's name says that the key is that of a `media-token-sandbox`.
    fileprivate var isSandbox: Bool {
        "\(name) \(file.split(separator: "/").last ?? "")".lowercased().contains("sandbox")
    }
}
