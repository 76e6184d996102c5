internal import Basics
internal import EventLoops
internal import Glibc
internal import MediaToken
internal import MediaTokenGate

/// A file that settings name, and that a reload reads again.
struct NamedFile {
    enum Role {
        /// A user who can replace it decides whose tokens or clients are accepted: a verification key, a folder of
        /// them, or the authority of clients.
        case trusted
        case secret
        /// The gate's own certificate.
        case shown
    }

    let path: String
    let role: Role
    /// The setting that names the file.
    let setting: String

    /// The key files in a folder of keys; empty for any other file, and for a folder that cannot be listed.
    var keyFiles: [String] { setting == "keys" ? (try? KeyRing.keyFiles(in: path)) ?? [] : [] }

    /// Whether the gate may read the file at a reload: a pipe or a device would keep it waiting. A missing file passes,
    /// since reading it gives the better message.
    var canBeReadAgain: Bool {
        var status = Glibc.stat()
        return stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }
}

extension GateSettings {
    /// The files that the settings name, without those of the replay store, which are read at the start only.
    var files: [NamedFile] {
        let others: [(String?, NamedFile.Role, String)] = [
            (passwordFile, .secret, "password-file"), (tls?.certificate, .shown, "tls-certificate"),
            (tls?.key, .secret, "tls-key"), (tls?.clientAuthorities, .trusted, "tls-client-ca"),
            (viewerKeyFile, .secret, "viewer-key-file"),
        ]
        let grants = routes.compactMap { route in
            route.grantSettings.map { ($0.maker.secretFiles, "\(route.place).grant") }
        }
        return keys.map { NamedFile(path: $0, role: .trusted, setting: "keys") }
            + others.compactMap { path, role, setting in
                path.map { NamedFile(path: $0, role: role, setting: setting) }
            }
            + grants.flatMap { paths, setting in
                paths.map { NamedFile(path: $0, role: .secret, setting: setting) }
            }
    }

    /// The marks of the named files, and of the key files in named folders, as they are now.
    var fileMarks: FileMarks { FileMarks(of: files.flatMap { [$0.path] + $0.keyFiles }) }
}
