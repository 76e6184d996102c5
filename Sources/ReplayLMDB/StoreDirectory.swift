internal import CLMDB
internal import Files
internal import Glibc
internal import Threading

/// The directory of a store, which stays the one that was opened even if its path comes to lead to another.
///
/// Every user holds a shared lock on the file `users` while it claims; the kernel takes it back from a killed one. The user
/// that can have it alone is the only one. The directory itself is locked while its record, or what that lists, is changed.
final class StoreDirectory {
    static let usersName = "users"
    static let horizonName = "horizon"
    private static let draftName = StoreRecord.name + ".new"

    /// How long a process that opens or closes the store waits for another one that changes it.
    static let patience = Duration.seconds(10)
    /// How long a claim waits for another process that changes the store.
    static let claimPatience = Duration.milliseconds(250)

    let path: String
    private let descriptor: Int32
    private let users: Int32
    /// What the directory is registered as among the open stores; `nil` until it is.
    private var registered: String?

    /// Opens the directory.
    ///
    /// - Parameter makesNew: whether one that is absent is made, with mode 0700.
    init(_ path: String, makesNew: Bool) throws(StoreFault) {
        self.path = path
        guard makesNew || access(path + "/" + StoreRecord.name, F_OK) == 0 else {
            throw StoreFault("is no replay store")
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw StoreFault("cannot be made: \(lastError())") }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreFault("cannot be opened: \(lastError())") }
        do throws(StoreFault) { users = try Self.openUsers(in: descriptor) } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        if let registered { OpenStores.shared.leave(registered) }
        close(users)
        close(descriptor)
    }

    private static func openUsers(in directory: Int32) throws(StoreFault) -> Int32 {
        let names = try Self.names(in: directory)
        guard names.contains(StoreRecord.name) || names.allSatisfy(isOurs) else {
            throw StoreFault("holds something that is no replay store; name another directory, or an empty one")
        }
        let users = openat(directory, usersName, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard users >= 0 else { throw StoreFault("cannot be opened: \(lastError())") }
        guard FileIdentity(usersName, in: directory) != nil else {
            close(users)
            throw StoreFault("is on a file system without file birth times; use ext4, XFS or tmpfs")
        }
        return users
    }

    /// Registers the directory as open in this process until this object is freed.
    func enter() throws(StoreFault) {
        guard let identity = FileIdentity(in: descriptor) else { throw StoreFault("cannot be read: \(lastError())") }
        let place = "\(identity.device):\(identity.inode)"
        guard OpenStores.shared.enter(place) else {
            throw StoreFault("is open in this process already; share the one store")
        }
        registered = place
    }

    /// Where a file lies: a path that leads into this very directory.
    func place(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    // MARK: Locks

    /// Does what no other process may do at the same time.
    ///
    /// - Parameter patience: How long to wait for another process that does so.
    func alone<Value>(
        within patience: Duration = patience, _ body: () throws(StoreFault) -> Value
    ) throws(StoreFault) -> Value {
        let end = ContinuousClock.now + patience
        repeat {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                defer { flock(descriptor, LOCK_UN) }
                return try body()
            }
            guard errno == EINTR || errno == EWOULDBLOCK else { throw StoreFault("cannot be locked: \(lastError())") }
            usleep(1000)
        } while ContinuousClock.now < end
        throw .held(for: patience)
    }

    /// Joins the users.
    func share() throws(StoreFault) {
        guard flock(users, LOCK_SH | LOCK_NB) == 0 else { throw StoreFault("cannot be locked: \(lastError())") }
    }

    /// Whether nobody else uses the store. Where it is `false`, this user's own shared lock is gone too.
    func isLastUser() -> Bool {
        flock(users, LOCK_EX | LOCK_NB) == 0
    }

    /// Ends the use.
    func leave() {
        flock(users, LOCK_UN)
    }

    // MARK: Files

    /// Which file a name leads to: its inode number and when it was made, which nothing but making a file can set. So a copy that
    /// was put in the place of a file is another one. The file `users` is also told by when it was last moved, given to another
    /// owner, or emptied anew (``discard()``): that of a whole directory that was moved away and back is another one.
    func identity(of name: String) -> String? {
        FileIdentity(name, in: descriptor).map {
            "\($0.inode).\($0.born)" + (name == Self.usersName ? ".\($0.changed)" : "")
        }
    }

    /// When a file was last made, moved or removed in the directory, in nanoseconds since 1970. `nil` results if the directory itself
    /// was moved, or copied onto, since then: another may have been used in its place.
    var lastChange: Int64? {
        // Asked twice: while another process makes a file, one of the two times may be old yet.
        for _ in 1...2 {
            if let found = FileIdentity(in: descriptor), found.changed == found.modified { return found.changed }
        }
        return nil
    }

    /// The record; `nil` where there is none.
    func read() throws(StoreFault) -> RecordFile? {
        let file = openat(descriptor, StoreRecord.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 || errno != ENOENT else { return nil }
        guard file >= 0 else { throw StoreFault("file '\(StoreRecord.name)' cannot be opened: \(lastError())") }
        do {
            let bytes = try FileBytes.read("/proc/self/fd/\(file)", limit: 1 << 20)
            return RecordFile(try StoreRecord(String(decoding: bytes, as: UTF8.self)), in: file)
        } catch {
            close(file)
            throw (error as? StoreFault) ?? StoreFault("file '\(StoreRecord.name)' \(error)")
        }
    }

    /// Whether a process was killed while it replaced the record.
    var hasDraft: Bool { identity(of: Self.draftName) != nil }

    /// Replaces the record.
    ///
    /// - Parameters:
    ///   - horizon: counts it.
    ///   - isSynced: whether it has to be on the disk when this returns.
    func write(_ record: StoreRecord, _ horizon: Horizon, isSynced: Bool) throws(StoreFault) -> RecordFile {
        unlinkat(descriptor, Self.draftName, 0)
        let draft = openat(descriptor, Self.draftName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard draft >= 0 else { throw StoreFault("cannot be written: \(lastError())") }
        var record = record
        record.files[StoreRecord.name] = identity(of: Self.draftName)
        guard FileBytes.write(Array(record.text.utf8), to: draft), !isSynced || fsync(draft) == 0 else {
            defer { close(draft) }
            throw StoreFault("cannot be written: \(lastError())")
        }
        horizon.count(record: record.number)
        guard renameat(descriptor, Self.draftName, descriptor, StoreRecord.name) == 0,
            !isSynced || fsync(descriptor) == 0
        else {
            defer { close(draft) }
            throw StoreFault("cannot be written: \(lastError())")
        }
        return RecordFile(record, in: draft)
    }

    /// Removes all that the store holds. The record goes first: from then on nobody believes what is left.
    func discard() throws(StoreFault) {
        for name in try [StoreRecord.name] + names().filter({ Self.isOurs($0) && $0 != Self.usersName }) {
            guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
                throw StoreFault("cannot be emptied: \(lastError())")
            }
        }
        // Changes the identity of `users`, so that no earlier record is valid any more.
        guard futimens(users, nil) == 0 else { throw StoreFault("cannot be written: \(lastError())") }
    }

    /// Syncs the named files and the directory to disk.
    ///
    /// - Parameter names: no lock file of a bucket that is open: closing one takes away this process's locks.
    func sync(_ names: some Sequence<String>) throws(StoreFault) {
        for name in names {
            // One that is deleted meanwhile needs no sync.
            let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            guard fsync(file) == 0 else { throw StoreFault("cannot be written: \(lastError())") }
        }
        guard fsync(descriptor) == 0 else { throw StoreFault("cannot be written: \(lastError())") }
    }

    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    func names() throws(StoreFault) -> [String] { try Self.names(in: descriptor) }

    private static func isOurs(_ name: String) -> Bool {
        [usersName, horizonName, StoreRecord.name, draftName].contains(name) || bucket(of: name) != nil
    }

    private static func names(in directory: Int32) throws(StoreFault) -> [String] {
        guard let directory = opendir("/proc/self/fd/\(directory)") else {
            throw StoreFault("cannot be opened: \(lastError())")
        }
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

/// What tells a file from every other one, and from itself as it was before it was written to or moved.
struct FileIdentity: Equatable {
    let device, inode: UInt64
    /// Nanoseconds since 1970. Nothing but making a file sets its birth time.
    let born, changed, modified: Int64

    /// Reads the identity of a file in an open directory, or of the open file itself; `nil` if there is none, or if its file system
    /// does not record birth times.
    init?(_ name: String = "", in descriptor: Int32) {
        var found = file_identity()
        guard file_identify(descriptor, name, &found) == 0 else { return nil }
        (device, inode) = (found.device, found.inode)
        (born, changed, modified) = (found.born, found.changed, found.modified)
    }
}

/// The stores that this process has open. LMDB must not open a file twice in one process: closing one would take away the
/// locks of the other.
private final class OpenStores: Sendable {
    static let shared = OpenStores()

    private let lock = Lock()
    private nonisolated(unsafe) var places: Set<String> = []

    /// Whether it was not open yet.
    func enter(_ place: String) -> Bool {
        lock.withLock { places.insert(place).inserted }
    }

    func leave(_ place: String) {
        _ = lock.withLock { places.remove(place) }
    }
}
