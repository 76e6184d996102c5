internal import CommandShell
internal import EventLoops
internal import Glibc
internal import HTTPServing
internal import MediaTokenGate
internal import ReplayStores
internal import TextEncodings

/// Finds the gate's key files and secrets that every user of this machine can read or replace.
enum FileModes {
    /// Prints a line, with what to do, for each of the files that `settings` name, and for the configuration file itself.
    static func warn(_ settings: GateSettings, file: String?) {
        let secrets =
            (settings.replays.holdsPassword ? [file].compactMap(\.self) : []) + settings.replays.secretFiles
            + settings.files.filter { $0.role == .secret }.map(\.path)
        let configuration = file.map { [writable($0, "decide what opens a stream")] + above($0) } ?? []
        let trusted = settings.files.filter { $0.role == .trusted }
        var told: Set<String> = []
        for case let warning? in secrets.flatMap(secret) + configuration + trusted.flatMap(verificationKeys)
        where told.insert(warning).inserted {
            Console.printError(warning)
        }
    }

    /// Checks the file of a secret.
    private static func secret(_ path: String) -> [String?] {
        guard let mode = mode(of: path), mode & S_IFMT == S_IFREG else { return [] }
        let isReadable = mode & S_IROTH != 0
        let own = isReadable || mode & S_IWOTH != 0
        let action = isReadable ? "read the secret in it" : "change it"
        return [own ? line(path, mode: mode, lets: action, better: "640") : nil] + above(path)
    }

    /// Checks key files. A user who can write to a key file, or add one to its directory, can sign tokens.
    private static func verificationKeys(_ file: NamedFile) -> [String?] {
        [writable(file.path)] + above(file.path) + file.keyFiles.map { writable($0) }
    }

    /// Checks the directories above a file or folder. A user who can write to one can put another in its place.
    private static func above(_ path: String) -> [String?] {
        let (parts, isAbsolute) = (path.split(separator: "/").dropLast(), path.hasPrefix("/"))
        return (0...parts.count).map { count in
            let directory = (isAbsolute ? "/" : "") + parts.prefix(count).joined(separator: "/")
            return writable(directory.isEmpty ? "." : directory, "replace what is below it", unlessSticky: true)
        }
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

    private static func mode(of path: String) -> mode_t? {
        var status = Glibc.stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }
}
