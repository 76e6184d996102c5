internal import Basics
internal import CommandShell
internal import Glibc
internal import HTTP
internal import MediaToken
internal import Sandbox
internal import Settings
internal import TokenCrypto

/// The options that say how a sandbox behaves, which key signs, and where its public keys are written.
struct SandboxOptions {
    static let table = SettingsTable<SandboxOptions>(
        .group(
            "Keys",
            [
                .text(
                    "signing-key", "FILE", "Sign with this RSA key, in PEM (default one that is made at start)",
                    \.signingKey),
                .text(
                    "keys-to", "DIR",
                    "Write the public keys to a directory that is new or a sandbox's: PEM, certificates, media_token_keystore.jks (password 123456)",
                    \.directory),
            ]),
        .group(
            "Behaviour",
            [
                .number(
                    "ttl", "MS", "TTL of media tokens in milliseconds", 1...86_400_000, default: 420_000,
                    \.settings.tokenMilliseconds
                ) { Int64($0) },
                seconds(
                    "bearer-seconds", "Seconds until a bearer token expires", default: 86_400, \.settings.bearerSeconds),
                seconds(
                    "session-seconds", "Seconds until the code of a session expires", default: 1800,
                    \.settings.sessionSeconds),
                seconds(
                    "profile-seconds", "Seconds until a login expires", default: 2_592_000, \.settings.profileSeconds),
                seconds(
                    "temp-pass-seconds", "Seconds for which a TempPass permits", default: 600,
                    \.settings.temporarySeconds),
                .number(
                    "temp-pass-resources", "N", "Resources that a promotional TempPass permits", 1...10_000, default: 3,
                    \.settings.temporaryResources),
                .number(
                    "resource-limit", "N",
                    "Resources that one call may ask for; Adobe usually permits 1 to authorize", 1...200, default: 5,
                    \.settings.resourceLimit),
                Setting(
                    "latency", "MS[-MS]", .text(), "Answer this many milliseconds late, or evenly in between"
                ) { given, name, options in
                    let range = given.value(name, "milliseconds up to 50000, or two of them as 20-80", latency)
                    options.settings.latencyMilliseconds = range ?? 0...0
                },
                .number(
                    "clock", "SECONDS", "Be ahead of this machine's clock, or behind if negative",
                    -315_360_000...315_360_000, default: 0, \.settings.clockMilliseconds
                ) { Int64($0) * 1000 },
                .flag(
                    "throttle",
                    "Answer 429 beyond one call per second and address (X-Forwarded-For), with ten more at first",
                    \.settings.throttles),
                .number(
                    "seed", "N", "Choose codes and identifiers by N, in the order of the calls", 0...1 << 53,
                    \.settings.seed
                ) { UInt64($0) },
            ]))

    private(set) var settings = SandboxSettings()
    private var signingKey: String?
    private var directory: String?

    init() {}

    /// The options of a sandbox that writes its keys to `directory`, and has no other.
    init(keysTo directory: String) { self.directory = directory }

    private static func seconds(
        _ name: String, _ help: String, default defaultValue: Int,
        _ path: any WritableKeyPath<SandboxOptions, Int64> & Sendable
    ) -> Setting<SandboxOptions> {
        .number(name, "N", help, 1...315_360_000, default: defaultValue, path) { Int64($0) }
    }

    private static func latency(_ text: String) -> ClosedRange<Int>? {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let low = numbers[0], let high = numbers[numbers.count - 1],
            0 <= low, low <= high, high <= 50_000
        else { return nil }
        return low...high
    }

    /// Makes the keys, or reads the one that is given.
    func keys() throws(CommandError) -> SandboxKeys {
        let given = try signingKey.map { (path) throws(CommandError) in
            try CommandError.wrap(at: path) { try RSASigningKey(pem: FileBytes.read(path, limit: 65_536)) }
        }
        return try CommandError.wrap { try SandboxKeys(first: given, at: .now) }
    }

    /// Writes the public keys, if a directory is given: a new one, an empty one, or one that holds nothing but what an
    /// earlier sandbox has left there. A gate that watches the keys in any other must not come to trust a sandbox.
    func write(_ keys: SandboxKeys) throws(CommandError) {
        guard let directory else { return }
        let files = try CommandError.wrap { try keys.files() }
        try NewFile.makeDirectory(directory)
        let own = Set(files.map(\.name))
        let found = try CommandError.wrap(at: directory) { try FileBytes.names(in: directory) }
        let isOwn = found.contains { own.contains($0) && $0.hasPrefix("sandbox-") }
        if let other = found.first(where: { !isOwn || !own.contains($0) }) {
            let name = printable(other, limit: 80)
            throw CommandError(
                "\(directory): has \(name); expected a directory that is new, empty or a sandbox's alone")
        }
        for (name, bytes) in files {
            unlink("\(directory)/\(name)")
            try NewFile.write(bytes, to: "\(directory)/\(name)", mode: 0o644)
        }
    }
}
