internal import Glibc
internal import EventLoops
internal import HTTPServing
internal import MediaTokenGate
internal import ReplayStores
internal import TextEncodings

/// Finds the gate's key files and secrets that every user of this machine can read or replace.
enum FileModes {
    /// Prints the warnings.
    static func warn(_ settings: GateSettings, file: String?) {
        for warning in warnings(settings, file: file) { Console.printError(warning) }
    }

    /// One line, with what to do, for each of the files that `settings` name, and for the configuration file itself.
    private static func warnings(_ settings: GateSettings, file: String?) -> [String] {
        let files = [settings.tls?.key, settings.passwordFile, settings.replays.holdsPassword ? file : nil]
        let secrets = files.compactMap { $0 } + settings.replays.secretFiles + GateFiles.grantSecrets(of: settings)
        let authorities = settings.tls?.clientAuthorities.map { [$0] } ?? []
        let configuration = file.map { [writable($0, "decide what opens a stream")] } ?? []
        let warnings = secrets.flatMap(secret) + configuration + (settings.keys + authorities).flatMap(verificationKeys)
        var told: Set<String> = []
        return warnings.compactMap { $0 }.filter { told.insert($0).inserted }
    }

    /// Checks the file of a secret. A user who can write to its directory can put another secret there.
    private static func secret(_ path: String) -> [String?] {
        guard let mode = mode(of: path), mode & S_IFMT == S_IFREG else { return [] }
        let isReadable = mode & S_IROTH != 0
        let own = isReadable || mode & S_IWOTH != 0
        return [
            own ? line(path, mode: mode, lets: isReadable ? "read the secret in it" : "change it", better: "640") : nil,
            writable(directory(of: path), unlessSticky: true),
        ]
    }

    /// Checks key files. A user who can write to a key file, or add one to its directory, can sign tokens.
    private static func verificationKeys(_ path: String) -> [String?] {
        guard let mode = mode(of: path) else { return [] }
        guard mode & S_IFMT == S_IFDIR else {
            return [writable(path), writable(directory(of: path), unlessSticky: true)]
        }
        return [writable(path)] + GateFiles.keyFiles(in: path).map { writable($0) }
    }

    /// - Parameter unlessSticky: whether other users may write to a directory whose sticky bit protects its files.
    private static func writable(
        _ path: String, _ action: String = "put their own keys there", unlessSticky: Bool = false
    ) -> String? {
        guard let mode = mode(of: path), mode & S_IWOTH != 0, !(unlessSticky && mode & S_ISVTX != 0) else { return nil }
        return line(path, mode: mode, lets: action, better: mode & S_IFMT == S_IFDIR ? "755" : "644")
    }

    private static func line(_ path: String, mode: mode_t, lets action: String, better: String) -> String {
        let path = printable(path, limit: 300)
        return
            "warning: \(path): has mode \(String(mode & 0o7777, radix: 8)), so that all users of this machine can \(action); "
            + "run chmod \(better) \(path)"
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func mode(of path: String) -> mode_t? {
        var status = Glibc.stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }
}
