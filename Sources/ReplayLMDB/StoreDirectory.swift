internal import Glibc
internal import MediaToken

/// The directory of a store: who uses it, and what is known of its past. LMDB's files lie beside.
///
/// A small text file tells the format, the boot of the kernel under which the store was used last, whether it was closed
/// cleanly, and the fence. It is written and synced before anything it says is relied on.
///
/// Every user holds a shared lock on a lock file while it claims; the kernel takes it back from a killed one. Who can
/// have it alone is the only user.
final class StoreDirectory {
    /// What the file tells.
    struct Record: Equatable {
        var boot: String
        var isClosed: Bool
        /// Tokens issued up to then may have been used before the store began to remember. Milliseconds since 1970.
        var fence: Int64
    }

    /// Milliseconds to wait for somebody who holds the directory alone.
    private static let patience = 10_000

    private static let format = "media-token replay store, format 1"

    let path: String
    private let lock: Int32

    private var recordFile: String { path + "/store" }
    var horizonFile: String { path + "/horizon" }

    /// Opens the directory.
    ///
    /// - Parameter makesNew: whether one that is absent is made, with mode 0700.
    init(_ path: String, makesNew: Bool) throws(StoreFault) {
        self.path = path
        guard makesNew || access(path + "/store", F_OK) == 0 else { throw StoreFault("is no replay store") }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw StoreFault("cannot be made: \(lastError())") }
        let isEmpty = try Self.names(in: path).isEmpty
        let lockFile = path + "/users"
        guard isEmpty || access(lockFile, F_OK) == 0 else {
            throw StoreFault("holds something that is no replay store; name another directory, or an empty one")
        }
        lock = open(lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw StoreFault("cannot be opened: \(lastError())") }
    }

    deinit {
        close(lock)
    }

    /// Joins the users. `true` for the only one, who then holds the directory alone until ``share()``.
    func join() throws(StoreFault) -> Bool {
        if flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
        try share()
        return false
    }

    /// Lets others in, or waits to be let in by who holds the directory alone: that takes as long as opening a store.
    func share() throws(StoreFault) {
        for _ in 0..<Self.patience {
            if flock(lock, LOCK_SH | LOCK_NB) == 0 { return }
            guard errno == EINTR || errno == EWOULDBLOCK else { throw StoreFault("cannot be locked: \(lastError())") }
            usleep(1000)
        }
        throw StoreFault("is held by a process that has been opening or closing it for \(Self.patience / 1000) s")
    }

    /// What tells this directory from every other one on this machine, whatever path leads to it.
    var identity: String {
        var status = Glibc.stat()
        fstat(lock, &status)
        return "\(status.st_dev):\(status.st_ino)"
    }

    /// Whether nobody else uses the store now. Nobody can join until ``leave()``. Where it is `false`, this user's own shared
    /// lock is gone too.
    func takeAlone() -> Bool {
        flock(lock, LOCK_EX | LOCK_NB) == 0
    }

    /// Ends the use.
    func leave() {
        flock(lock, LOCK_UN)
    }

    /// `nil` for a directory that is new.
    func record() throws(StoreFault) -> Record? {
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(recordFile, limit: 4096) } catch {
            guard access(recordFile, F_OK) != 0, errno == ENOENT else { throw StoreFault("file 'store' \(error)") }
            guard try bucketNames().isEmpty else {
                throw StoreFault("holds data but no file 'store'; move the directory away, and a new store begins")
            }
            return nil
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == Self.format[...] else {
            throw StoreFault(
                "is of another format than '\(Self.format)'; use the version that made it, or another directory")
        }
        let pairs = lines.dropFirst().map { $0.split(separator: " ", maxSplits: 1) }.filter { $0.count == 2 }
        let values = Dictionary(pairs.map { (String($0[0]), String($0[1])) }, uniquingKeysWith: { first, _ in first })
        guard let boot = values["boot"], let fence = values["fence"].flatMap({ Int64($0) }),
            let state = values["state"],
            ["open", "closed"].contains(state)
        else { throw StoreFault("has a damaged file 'store'; move the directory away, and a new store begins") }
        return Record(boot: boot, isClosed: state == "closed", fence: fence)
    }

    /// Replaces what the file tells, and has it on the disk when it returns.
    func write(_ record: Record) throws(StoreFault) {
        let text = """
            \(Self.format)
            boot \(record.boot)
            fence \(record.fence)
            state \(record.isClosed ? "closed" : "open")

            """
        let draft = "\(recordFile).new-\(getpid())"
        let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreFault("cannot be written: \(lastError())") }
        defer { close(file) }
        guard FileBytes.write(Array(text.utf8), to: file), fsync(file) == 0, rename(draft, recordFile) == 0 else {
            throw StoreFault("cannot be written: \(lastError())")
        }
        try syncDirectory()
    }

    func syncDirectory() throws(StoreFault) {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw StoreFault("cannot be opened: \(lastError())") }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw StoreFault("cannot be written: \(lastError())") }
    }

    static func names(in path: String) throws(StoreFault) -> [String] {
        guard let directory = opendir(path) else { throw StoreFault("cannot be opened: \(lastError())") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// What is wrong with a store's directory. Completes a line that begins with its path.
struct StoreFault: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

func lastError() -> String {
    String(cString: strerror(errno))
}
