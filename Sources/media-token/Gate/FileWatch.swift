internal import EventLoops
internal import Glibc
internal import MediaTokenGate

/// Tells when the keys, certificates and secrets that the settings name have changed on disk, also where Kubernetes changes
/// them by swapping a link on their way.
struct FileWatch {
    /// What differs between two contents of a file. A link is followed, so a swapped one shows another inode.
    private struct Mark: Equatable {
        let (device, inode, size): (UInt, UInt, Int)
        /// The times of the last change of the content and of the file's status, each in seconds and nanoseconds.
        let times: [Int]
    }

    /// The marks of the files as the gate last read them, and as they were at the last look.
    private var applied: [String: Mark]
    private var seen: [String: Mark]
    /// The looks to wait before the same contents are tried again.
    private var patience = 0
    private static let looksAfterFailure = 12

    /// Begins the watch. The caller reads the files afterwards, so that no change gets lost in between.
    init(_ settings: GateSettings) {
        applied = Self.marks(settings)
        seen = applied
    }

    /// Postpones the next attempt after one that failed: ``changes(_:)`` reports the same contents again only after a dozen looks,
    /// since the reason may pass, such as too few descriptors. Contents that change again are reported as ever.
    mutating func postpone() { patience = Self.looksAfterFailure }

    /// The files that have changed since the gate read them; empty while they still change, since a file may be half written.
    mutating func changes(_ settings: GateSettings) -> [String] {
        let now = Self.marks(settings)
        defer { seen = now }
        guard now == seen else {
            patience = 0
            return []
        }
        guard now != applied else { return [] }
        guard patience == 0 else {
            patience -= 1
            return []
        }
        return Set(now.keys).union(applied.keys).filter { now[$0] != applied[$0] }.sorted()
    }

    private static func marks(_ settings: GateSettings) -> [String: Mark] {
        let keys = settings.keys.flatMap { [$0] + GateFiles.keyFiles(in: $0) }
        let tls = [settings.tls?.certificate, settings.tls?.key, settings.tls?.clientAuthorities]
        let files = keys + GateFiles.grantSecrets(of: settings) + (tls + [settings.passwordFile]).compactMap(\.self)
        return files.reduce(into: [:]) { marks, file in marks[file] = mark(of: file) }
    }

    private static func mark(of path: String) -> Mark? {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else { return nil }
        // The size and times of a folder change with files in it that are no keys.
        if status.st_mode & S_IFMT == S_IFDIR { return nil }
        let times = [status.st_mtim, status.st_ctim]
        return Mark(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            times: times.flatMap { [$0.tv_sec, $0.tv_nsec] })
    }
}
