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
    /// The directory's ``StoreDirectory/lastChange`` when all listed files were seen to exist; `nil` if there may have
    /// been another change in the same tick of the kernel's clock.
    private var checked: Int64?

    private static let longestTick: Int64 = 50_000_000

    private var record: StoreRecord { file.record }
    var fence: Timestamp { Timestamp(milliseconds: record.fence) }

    /// Opens the store that `file` lists. `nil` if the directory was moved, if a listed file is missing or was
    /// replaced, or if the record or the low-water marks are an older copy. The caller holds the directory lock.
    init?(of directory: StoreDirectory, _ file: RecordFile, sizeLimit: Int) throws(LMDBError) {
        (self.directory, self.file, self.sizeLimit) = (directory, file, sizeLimit)
        // Checked before any file is created in the directory.
        let wasMoved = directory.lastChange == nil
        horizon = try Horizon(in: directory)
        guard !wasMoved, exist(file.record) else { return nil }
        // The numbers differ if the record or the low-water marks are an older copy. They also differ, by one, if a
        // process was killed while it replaced the record; its draft then exists.
        guard record.number == horizon.records || record.number &+ 1 == horizon.records && directory.hasDraft
        else { return nil }
    }

    /// Creates a store in an emptied directory. The caller holds the directory lock.
    init(
        beginningIn directory: StoreDirectory, boot: String, fence: Int64, sizeLimit: Int
    ) throws(LMDBError) {
        (self.directory, self.sizeLimit) = (directory, sizeLimit)
        horizon = try Horizon(in: directory)
        _ = try LogFile(making: directory, horizon, sizeLimit: sizeLimit)
        var record = StoreRecord(boot: boot, fence: fence)
        for name in StoreDirectory.fileNames { record.files[name] = directory.identity(of: name) }
        file = try directory.write(record, horizon)
    }

    /// Opens the log.
    func openLog() throws(LMDBError) -> LogFile {
        try LogFile(opening: directory, horizon, sizeLimit: sizeLimit)
    }

    /// Whether every file that a record lists exists.
    private func exist(_ record: StoreRecord) -> Bool {
        record.files.allSatisfy { directory.identity(of: $0.key) == $0.value }
    }

    /// Whether the path still leads to this store and every listed file exists. Reads the record again if another
    /// process has replaced it.
    func isCurrent() throws(LMDBError) -> Bool {
        guard let change = directory.lastChange else { return false }
        repeat {
            while !file.isAt(directory.recordPath) {
                guard try refresh() else { return false }
            }
            if change == checked { return true }
            if exist(record) {
                checked = abs(Timestamp.now.milliseconds * 1_000_000 - change) > Self.longestTick ? change : nil
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
