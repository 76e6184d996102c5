internal import Basics
internal import CLMDB
internal import Glibc

/// The directory of a store. It stays the one that was opened, even if its path comes to lead to another directory.
///
/// Every process that has the store open holds a shared lock on the file `users`; the kernel releases the lock of a
/// killed process. A process that gets this lock exclusively is the only user. A process locks the directory itself
/// while it changes the record or creates files.
final class StoreDirectory {
    static let usersName = "users"
    static let horizonName = "horizon"
    static let logName = "log"
    /// The files of a store beside its record.
    static let fileNames = [usersName, horizonName, logName]
    private static let draftName = StoreRecord.name + ".new"

    /// How long a process that opens or closes the store waits for another process that holds the directory lock.
    private static let patience = Duration.seconds(10)

    /// The path that leads to the store's record, as long as it leads to this directory.
    let recordPath: String
    private let path: String
    private let descriptor: Int32
    private let users: Int32

    /// Opens the directory.
    ///
    /// - Parameter makesNew: whether to create a missing directory (mode 0700); if `false`, a store must exist.
    init(_ path: String, makesNew: Bool) throws(LMDBError) {
        (self.path, recordPath) = (path, path + "/" + StoreRecord.name)
        guard makesNew || Self.hasStore(path) else {
            throw LMDBError(
                errno == ENOENT
                    ? "is no replay store"
                    : "cannot be looked into: \(lastError()); run this as the user that the store belongs to")
        }
        let isNew = mkdir(path, 0o700) == 0
        guard isNew || errno == EEXIST else { throw LMDBError("cannot be made: \(lastError())") }
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError("cannot be opened: \(lastError())") }
        do throws(LMDBError) {
            try Self.check(descriptor, at: path, isNew: isNew)
            users = try Self.openUsers(in: descriptor, at: path)
        } catch {
            close(descriptor)
            if isNew { rmdir(path) }
            throw error
        }
    }

    deinit {
        close(users)
        close(descriptor)
    }

    /// Whether a directory has a store's record.
    static func hasStore(_ path: String) -> Bool { access(path + "/" + StoreRecord.name, F_OK) == 0 }

    /// Why the store would be refused, since somebody else can change its directory or files; `nil` if it would not be,
    /// or if there is none.
    static func refusal(at path: String) -> String? {
        let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return errno == ENOENT ? nil : "cannot be opened: \(lastError())" }
        defer { close(directory) }
        do throws(LMDBError) {
            try check(directory, at: path, isNew: false)
            for name in try names(in: directory) where isOurs(name) {
                close(try open(name, O_RDONLY, in: directory, at: path))
            }
            return nil
        } catch { return error.what }
    }

    /// Refuses a directory that somebody else can change, or that somebody else's link leads to: what it holds would be
    /// believed.
    ///
    /// Root is refused a directory of another user, and a new one in it, since files of root would keep that user out.
    private static func check(_ directory: Int32, at path: String, isNew: Bool) throws(LMDBError) {
        if let link = Outsider.all(on: path).first(where: \.isLink) {
            let place = printable(link.path, limit: 300)
            throw LMDBError(
                "leads through the link \(place), which \(link.reason(lets: "lead it elsewhere")); run "
                    + link.command(for: place))
        }
        var status = Glibc.stat()
        guard fstatat(directory, isNew ? ".." : ".", &status, 0) == 0 else {
            throw LMDBError("cannot be read: \(lastError())")
        }
        guard geteuid() != 0 || status.st_uid == 0 else {
            let what = isNew ? "would be made in a directory that belongs" : "belongs"
            throw LMDBError(
                "\(what) to user \(status.st_uid), whom files of root would keep out; run this as that user")
        }
        if let outsider = Outsider(of: directory, at: path) {
            let command = outsider.command(for: printable(path, limit: 300), owner: "\(geteuid())")
            throw LMDBError(
                "\(outsider.reason(lets: "change the store")); run \(command), or name a directory that does not exist yet"
            )
        }
    }

    private static func openUsers(in directory: Int32, at path: String) throws(LMDBError) -> Int32 {
        let names = try Self.names(in: directory)
        guard names.contains(StoreRecord.name) || names.allSatisfy(isOurs) else {
            throw LMDBError("holds something that is no replay store; name another directory, or an empty one")
        }
        let users = try open(usersName, O_RDWR | O_CREAT, in: directory, at: path)
        guard FileIdentity(usersName, in: directory) != nil else {
            close(users)
            throw LMDBError("is on a file system without file birth times; use ext4, XFS or tmpfs")
        }
        return users
    }

    // MARK: Locks

    /// Runs `body` while this process alone holds the directory lock.
    func alone<Value>(_ body: () throws(LMDBError) -> Value) throws(LMDBError) -> Value {
        try FileLock.hold(descriptor, patience: Self.patience, pause: 1000, body)
    }

    /// Takes the shared lock on `users`, which makes this process a user of the store.
    func share() throws(LMDBError) {
        guard flock(users, LOCK_SH | LOCK_NB) == 0 else { throw LMDBError("cannot be locked: \(lastError())") }
    }

    /// Whether no other process uses the store. If `false`, this process's own shared lock is released too.
    func isLastUser() -> Bool {
        flock(users, LOCK_EX | LOCK_NB) == 0
    }

    /// Releases this process's lock on `users`.
    func leave() {
        flock(users, LOCK_UN)
    }

    // MARK: Files

    /// Opens a file of the store; with `O_CREAT`, it is created if absent. A file that somebody else can change is
    /// refused, as are links, and pipes and devices, for which this does not wait.
    func open(_ name: String, _ flags: Int32) throws(LMDBError) -> Int32 {
        try Self.open(name, flags, in: descriptor, at: path)
    }

    private static func open(
        _ name: String, _ flags: Int32, in directory: Int32, at path: String
    ) throws(LMDBError) -> Int32 {
        let file = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw LMDBError("has a file '\(name)' that cannot be opened: \(lastError())") }
        var status = Glibc.stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw LMDBError(
                "has a file '\(name)' that is not a regular file; move the directory away, and a new store begins")
        }
        if let outsider = Outsider(of: file, at: "\(path)/\(name)") {
            close(file)
            throw LMDBError(
                "has a file '\(name)' that \(outsider.reason(lets: "change the store")); move the directory away, and a new "
                    + "store begins")
        }
        return file
    }

    /// The identity of the file that a name leads to: its inode number and its birth time, which only the creation of a
    /// file sets. A copy that replaced a file therefore has another identity. The identity of `users` includes its
    /// change time, which is updated if the file is moved or given another mode or owner, or if the store is emptied
    /// (``discard()``), as after the whole directory was moved away and back.
    func identity(of name: String) -> String? {
        FileIdentity(name, in: descriptor).map {
            "\($0.inode).\($0.born)" + (name == Self.usersName ? ".\($0.changed)" : "")
        }
    }

    /// The times of the directory itself; `nil` if they cannot be read.
    var changes: DirectoryChanges? {
        var last: DirectoryChanges?
        // Read twice: while another process creates a file, one of the two times may still be old.
        for _ in 1...2 {
            last = FileIdentity(in: descriptor).map { DirectoryChanges(entries: $0.modified, itself: $0.changed) }
            if last?.isOfEntriesAlone == true { break }
        }
        return last
    }

    /// The directory that this one is in, as it was when an entry of it was last created, moved or deleted, and the
    /// owner of the store; `nil` if they cannot be read.
    var surroundings: String? {
        var status = Glibc.stat()
        guard fstat(users, &status) == 0 else { return nil }
        return FileIdentity("..", in: descriptor).map { "\($0.inode).\($0.born).\($0.modified).\(status.st_uid)" }
    }

    /// Whether the store's owner lets a group write to it, and nobody else: what Kubernetes does to each file of a
    /// volume, at each start of a pod that has an `fsGroup`.
    var isOpenToGroup: Bool {
        var status = Glibc.stat()
        guard fstat(users, &status) == 0 else { return false }
        let group = S_IRWXG | S_ISGID
        return status.st_mode & group & S_IWGRP != 0 && status.st_mode & 0o7777 & ~group == S_IRUSR | S_IWUSR
    }

    /// The store's record; `nil` if there is none.
    func read() throws(LMDBError) -> RecordFile? {
        guard faccessat(descriptor, StoreRecord.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT else {
            return nil
        }
        let file = try open(StoreRecord.name, O_RDONLY)
        do {
            let bytes = try FileBytes.read(file, limit: 1 << 20)
            return RecordFile(try StoreRecord(String(decoding: bytes, as: UTF8.self)), in: file)
        } catch {
            close(file)
            throw (error as? LMDBError) ?? LMDBError("file '\(StoreRecord.name)' \(error)")
        }
    }

    /// Whether there is a draft, left by a process that was killed while it replaced the record.
    var hasDraft: Bool { identity(of: Self.draftName) != nil }

    /// Replaces the record, on disk when this returns.
    ///
    /// - Parameter horizon: the low-water marks, which count the record.
    func write(_ record: StoreRecord, _ horizon: Horizon) throws(LMDBError) -> RecordFile {
        unlinkat(descriptor, Self.draftName, 0)
        let draft = openat(descriptor, Self.draftName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard draft >= 0 else { throw LMDBError("cannot be written: \(lastError())") }
        var record = record
        record.files[StoreRecord.name] = identity(of: Self.draftName)
        record.surroundings = surroundings
        guard FileBytes.write(Array(record.text.utf8), to: draft), fsync(draft) == 0 else {
            defer { close(draft) }
            throw LMDBError("cannot be written: \(lastError())")
        }
        horizon.count(record: record.number)
        guard renameat(descriptor, Self.draftName, descriptor, StoreRecord.name) == 0,
            fsync(descriptor) == 0
        else {
            defer { close(draft) }
            throw LMDBError("cannot be written: \(lastError())")
        }
        if let time = changes?.entries { horizon.note(recordReplaced: time) }
        return RecordFile(record, in: draft)
    }

    /// Deletes everything that the store holds. The record is deleted first: without it, no process trusts the
    /// remaining files.
    func discard() throws(LMDBError) {
        for name in [StoreRecord.name, Self.draftName] + Self.fileNames where name != Self.usersName {
            guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
                throw LMDBError("cannot be emptied: \(lastError())")
            }
        }
        // Changes the identity of `users`, so that no earlier record is valid any more.
        guard futimens(users, nil) == 0 else { throw LMDBError("cannot be written: \(lastError())") }
    }

    /// Syncs the store's files and the directory to disk.
    func sync() throws(LMDBError) {
        for name in Self.fileNames {
            let file = try open(name, O_RDONLY)
            defer { close(file) }
            guard fsync(file) == 0 else { throw LMDBError("cannot be written: \(lastError())") }
        }
        guard fsync(descriptor) == 0 else { throw LMDBError("cannot be written: \(lastError())") }
    }

    /// The disk space in bytes that a file takes, which may be less than its size.
    func bytes(of name: String) -> Int {
        var status = Glibc.stat()
        return fstatat(descriptor, name, &status, 0) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    private static func isOurs(_ name: String) -> Bool {
        (fileNames + [StoreRecord.name, draftName]).contains(name)
    }

    private static func names(in directory: Int32) throws(LMDBError) -> [String] {
        do { return try FileBytes.names(in: "/proc/self/fd/\(directory)") } catch { throw LMDBError("\(error)") }
    }
}

/// When entries of a directory changed, and when the directory itself did, in nanoseconds since 1970.
struct DirectoryChanges: Equatable {
    /// When a file was last created, moved or deleted in it.
    let entries: Int64
    /// The latest of that, and of when it was moved, copied onto, or given another mode or owner.
    let itself: Int64

    /// Whether nothing else happened to the directory since a file in it was created, moved or deleted.
    var isOfEntriesAlone: Bool { itself == entries }
}

/// The values that distinguish a file from every other file, and from itself before it was written to or moved.
struct FileIdentity: Equatable {
    let device, inode: UInt64
    /// Nanoseconds since 1970. Only the creation of a file sets its birth time.
    let born, changed, modified: Int64

    /// Reads the identity of a file in an open directory or, without a name, of the open file itself. `nil` if there is
    /// no such file, or if its file system does not record birth times.
    init?(_ name: String = "", in descriptor: Int32) {
        var found = file_identity()
        guard file_identify(descriptor, name, &found) == 0 else { return nil }
        (device, inode) = (found.device, found.inode)
        (born, changed, modified) = (found.born, found.changed, found.modified)
    }

    /// Whether both are of one file, whatever was done to it in between.
    func isSameFile(as other: FileIdentity) -> Bool {
        device == other.device && inode == other.inode && born == other.born
    }
}
