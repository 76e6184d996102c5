internal import CommandShell
internal import Files
internal import Glibc
internal import HTTPServing
internal import MediaToken
internal import Sandbox
internal import TextEncodings
internal import TokenCrypto

/// The options that say how a sandbox behaves, which key signs, and where its public keys are written.
struct SandboxOptions {
    static let groups = [
        OptionGroup(
            heading: "Keys:",
            options: [
                CommandOption(
                    "signing-key", "FILE", "Sign with this RSA key, in PEM (default: one that is made at start)"),
                CommandOption(
                    "keys-to", "DIR",
                    "Write the public keys to a directory that is new or a sandbox's: PEM, certificates, media_token_keystore.jks (password 123456)"
                ),
            ]),
        OptionGroup(
            heading: "Behaviour:",
            options: [
                CommandOption("ttl", "MS", "TTL of media tokens in milliseconds (default 420000)"),
                CommandOption("bearer-seconds", "N", "Seconds until a bearer token expires (default 86400)"),
                CommandOption("session-seconds", "N", "Seconds until the code of a session expires (default 1800)"),
                CommandOption("profile-seconds", "N", "Seconds until a login expires (default 2592000)"),
                CommandOption("temp-pass-seconds", "N", "Seconds for which a TempPass permits (default 600)"),
                CommandOption("temp-pass-resources", "N", "Resources that a promotional TempPass permits (default 3)"),
                CommandOption(
                    "resource-limit", "N",
                    "Resources that one call may ask for (default 5; Adobe usually permits 1 to authorize)"),
                CommandOption("latency", "MS[-MS]", "Answer this many milliseconds late, or evenly in between"),
                CommandOption("clock", "SECONDS", "Be ahead of this machine's clock, or behind if negative"),
                CommandOption(
                    "throttle", nil,
                    "Answer 429 beyond one call per second and address (X-Forwarded-For), with ten more at first"),
                CommandOption("seed", "N", "Choose codes and identifiers by N, in the order of the calls"),
            ]),
    ]

    let settings: SandboxSettings
    private let signingKey: String?
    private let directory: String?

    init(_ given: Arguments) throws(UsageError) {
        var settings = SandboxSettings()
        func seconds(_ option: String, _ standard: Int64) throws(UsageError) -> Int64 {
            try given.number(option, in: 1...315_360_000) ?? standard
        }
        settings.tokenMilliseconds = try given.number("ttl", in: 1...86_400_000) ?? settings.tokenMilliseconds
        settings.bearerSeconds = try seconds("bearer-seconds", settings.bearerSeconds)
        settings.sessionSeconds = try seconds("session-seconds", settings.sessionSeconds)
        settings.profileSeconds = try seconds("profile-seconds", settings.profileSeconds)
        settings.temporarySeconds = try seconds("temp-pass-seconds", settings.temporarySeconds)
        settings.temporaryResources =
            try given.number("temp-pass-resources", in: 1...10_000).map(Int.init) ?? settings.temporaryResources
        settings.resourceLimit =
            try given.number("resource-limit", in: 1...200).map(Int.init) ?? settings.resourceLimit
        settings.clockMilliseconds = try given.number("clock", in: -315_360_000...315_360_000).map { $0 * 1000 } ?? 0
        settings.latencyMilliseconds = try Self.latency(given.one("latency"))
        settings.throttles = given.has("throttle")
        settings.seed = try given.number("seed", in: 0 ... .max).map { UInt64($0) }
        self.settings = settings
        (signingKey, directory) = (try given.one("signing-key"), try given.one("keys-to"))
    }

    /// The options of a sandbox that writes its keys to `directory`, and has no other.
    init(keysTo directory: String) {
        (settings, signingKey, self.directory) = (SandboxSettings(), nil, directory)
    }

    private static func latency(_ text: String?) throws(UsageError) -> ClosedRange<Int> {
        guard let text else { return 0...0 }
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let low = numbers[0], let high = numbers[numbers.count - 1],
            0 <= low, low <= high, high <= 50_000
        else { throw UsageError("--latency is '\(text)'; expected milliseconds up to 50000, or two of them as 20-80") }
        return low...high
    }

    /// Makes the keys, or reads the one that is given.
    func keys() throws(CommandError) -> SandboxKeys {
        var given: RSASigningKey?
        if let signingKey {
            do { given = try RSASigningKey(pem: FileBytes.read(signingKey, limit: 65_536)) } catch {
                throw CommandError("\(signingKey): \(error)")
            }
        }
        do { return try SandboxKeys(first: given, at: .now) } catch { throw CommandError("\(error)") }
    }

    /// Writes the public keys, if a directory is given: a new one, an empty one, or one that holds nothing but what an earlier
    /// sandbox has left there. A gate that watches the keys in any other must not come to trust a sandbox.
    func write(_ keys: SandboxKeys) throws(CommandError) {
        guard let directory else { return }
        let files: [(name: String, bytes: [UInt8])]
        do { files = try keys.files() } catch { throw CommandError("\(error)") }
        try NewFile.makeDirectory(directory)
        let own = Set(files.map(\.name))
        let found: [String]
        do { found = try FileBytes.names(in: directory) } catch { throw CommandError("\(directory): \(error)") }
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
