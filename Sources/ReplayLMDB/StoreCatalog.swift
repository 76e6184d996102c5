internal import Glibc
internal import MediaToken

/// The files of an open store, and whether they still are the store that its path leads to.
///
/// The record lists the files, and is replaced as a whole. It is written when a store begins, when a process opens or
/// closes the store, and when the fence moves.
final class StoreCatalog {
    let directory: StoreDirectory
    let horizon: Horizon
    private let sizeLimit: Int
    private var file: RecordFile
    /// The directory's ``StoreDirectory/changes`` when all listed files were seen to exist; `nil` if there may have
    /// been another change in the same tick of the kernel's clock.
    private var checked: DirectoryChanges?

    private static let longestTick: Int64 = 50_000_000

    private var record: StoreRecord { file.record }
    var fence: Timestamp { Timestamp(milliseconds: record.fence) }
    var cause: FenceCause { record.cause }

    /// Opens the store that `file` lists. The caller holds the directory lock.
    ///
    /// - Throws: a loss if the directory was moved, if a listed file is missing or was replaced, or if the record or
    ///   the low-water marks are an older copy.
    init(of directory: StoreDirectory, _ file: RecordFile, sizeLimit: Int) throws(LMDBError) {
        (self.directory, self.file, self.sizeLimit) = (directory, file, sizeLimit)
        // Before any file is created in the directory.
        let changes = directory.changes
        let isWhole = file.record.files.keys.allSatisfy { directory.identity(of: $0) != nil }
        horizon = try Horizon(in: directory)
        if let loss = isWhole ? loss(changes) : .missing { throw .lost(loss) }
        // The numbers differ if the record or the low-water marks are an older copy. They also differ, by one, if a
        // process was killed while it replaced the record; its draft then exists.
        guard record.number == horizon.records || record.number &+ 1 == horizon.records && directory.hasDraft
        else { throw .lost(.copied) }
    }

    /// Creates a store in an emptied directory. The caller holds the directory lock.
    init(beginningIn directory: StoreDirectory, _ record: StoreRecord, sizeLimit: Int) throws(LMDBError) {
        (self.directory, self.sizeLimit) = (directory, sizeLimit)
        horizon = try Horizon(in: directory)
        _ = try LogFile(making: directory, horizon, sizeLimit: sizeLimit)
        var record = record
        for name in StoreDirectory.fileNames { record.files[name] = directory.identity(of: name) }
        file = try directory.write(record, horizon)
    }

    /// Opens the log.
    func openLog() throws(LMDBError) -> LogFile {
        try LogFile(opening: directory, horizon, sizeLimit: sizeLimit)
    }

    /// What happened to the files that the record lists, if anything did.
    private func loss(_ changes: DirectoryChanges?) -> FenceCause? {
        guard let changes else { return .missing }
        var isTouched = false
        for (name, listed) in record.files {
            guard let found = directory.identity(of: name) else { return .missing }
            guard found != listed else { continue }
            // The change time of `users` comes third.
            let isSameFile = found.split(separator: ".").prefix(2) == listed.split(separator: ".").prefix(2)
            guard isSameFile else { return .copied }
            isTouched = true
        }
        guard isTouched || !changes.isOfEntriesAlone, !hasOnlyGainedGroup(changes) else { return nil }
        return changes.isOfEntriesAlone ? .access : .moved
    }

    /// Whether change times of the store are later only because a group may write to it.
    ///
    /// Change times do not tell that from a move. But a move of a file changes the directory's time of modification,
    /// and a move of the directory that of the directory which it is in.
    private func hasOnlyGainedGroup(_ changes: DirectoryChanges) -> Bool {
        directory.isOpenToGroup && changes.entries == horizon.recordReplaced
            && record.surroundings.map { $0 == directory.surroundings } ?? false
    }

    /// Whether the path still leads to this store and every listed file exists. Reads the record again if another
    /// process has replaced it.
    func isCurrent() throws(LMDBError) -> Bool {
        guard let changes = directory.changes else { return false }
        repeat {
            while !file.isAt(directory.recordPath) {
                guard try refresh() else { return false }
            }
            if changes == checked { return true }
            if loss(changes) == nil {
                let age = abs(Timestamp.now.milliseconds * 1_000_000 - changes.itself)
                checked = age > Self.longestTick ? changes : nil
                return true
            }
        } while !file.isAt(directory.recordPath)
        return false
    }

    /// Takes over a later record that another process has written. `false` if there is none, or if it does not continue
    /// the current one: same boot, not closed, no earlier fence, and the same files.
    private func refresh() throws(LMDBError) -> Bool {
        guard let newer = try directory.read(), newer.record.number > record.number, newer.record.boot == record.boot,
            !newer.record.isClosed, newer.record.fence >= record.fence,
            StoreDirectory.fileNames.allSatisfy({ newer.record.files[$0] == record.files[$0] })
        else { return false }
        file = newer
        return true
    }

    /// Writes a new record, on disk when this returns, if `change` modifies the current one. The caller holds the
    /// directory lock.
    func change(_ change: (inout StoreRecord) -> Void) throws(LMDBError) {
        var next = record
        change(&next)
        guard next != record else { return }
        next.number &+= 1
        file = try directory.write(next, horizon)
    }

    /// Marks the store as closed cleanly if this process is its last user; everything that any process claimed is on
    /// disk then. The caller holds the directory lock and has closed the log.
    func close() throws(LMDBError) {
        guard try isCurrent(), directory.isLastUser() else { return }
        try directory.sync()
        try change { $0.isClosed = true }
    }
}
