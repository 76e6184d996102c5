internal import Glibc
internal import MediaToken

/// The files of an open store, and whether they still are the store that its path leads to.
///
/// The record lists the files, and is replaced as a whole. A bucket's files are listed once they are complete, and no
/// process claims in them before that. A process that is killed on the way therefore leaves only files in which nobody
/// has claimed.
final class StoreCatalog {
    let directory: StoreDirectory
    let horizon: Horizon
    private var file: RecordFile
    /// The directory's ``StoreDirectory/lastChange`` when all listed files were seen to exist; `nil` if there may have
    /// been another change in the same tick of the kernel's clock.
    private var checked: Int64?

    private static let longestTick: Int64 = 50_000_000

    var record: StoreRecord { file.record }
    var fence: Timestamp { Timestamp(milliseconds: record.fence) }

    /// Opens the store that `file` lists. `nil` if the directory was moved, if a listed file is missing or was
    /// replaced, or if the record or the low-water marks are an older copy. The caller holds the directory lock.
    init?(of directory: StoreDirectory, _ file: RecordFile) throws(LMDBError) {
        (self.directory, self.file) = (directory, file)
        // Checked before any file is created in the directory.
        let wasMoved = directory.lastChange == nil
        horizon = try Horizon(directory.place(StoreDirectory.horizonName))
        guard !wasMoved, lists(file.record) else { return nil }
        // The numbers differ if the record or the low-water marks are an older copy. They also differ, by one, if a
        // process was killed while it replaced the record; its draft then exists.
        guard record.number == horizon.records || record.number &+ 1 == horizon.records && directory.hasDraft
        else { return nil }
    }

    /// Creates a store in an emptied directory. The caller holds the directory lock.
    init(beginningIn directory: StoreDirectory, boot: String, fence: Int64) throws(LMDBError) {
        self.directory = directory
        horizon = try Horizon(directory.place(StoreDirectory.horizonName))
        var record = StoreRecord(boot: boot, fence: fence)
        for name in [StoreDirectory.usersName, StoreDirectory.horizonName] {
            record.files[name] = directory.identity(of: name)
        }
        file = try directory.write(record, horizon, isSynced: true)
    }

    /// Whether every file that a record lists exists, apart from deleted buckets.
    private func lists(_ record: StoreRecord) -> Bool {
        record.files.allSatisfy { directory.identity(of: $0.key) == $0.value || isDropped($0.key) }
    }

    /// Whether the bucket of a missing file counts as deleted. Checked after the file was found missing, because it may
    /// have been deleted once the low-water mark had moved.
    private func isDropped(_ name: String) -> Bool {
        StoreDirectory.bucket(of: name).map { $0 <= horizon.dropped } ?? false
    }

    /// Whether the path still leads to this store and every listed file exists. Reads the record again if another
    /// process has replaced it.
    func stands() throws(LMDBError) -> Bool {
        let path = directory.path + "/" + StoreRecord.name
        guard let change = directory.lastChange else { return false }
        repeat {
            while !file.isAt(path) {
                guard try refresh() else { return false }
            }
            if change == checked { return true }
            if lists(record) {
                checked = abs(Timestamp.now.milliseconds * 1_000_000 - change) > Self.longestTick ? change : nil
                return true
            }
        } while !file.isAt(path)
        return false
    }

    /// Takes over a later record that another process has written. `false` if there is none, or if it does not continue
    /// the current one: same boot, not closed, no earlier fence, and all files still listed that are not deleted.
    private func refresh() throws(LMDBError) -> Bool {
        guard let newer = try directory.read(), newer.record.number > record.number, newer.record.boot == record.boot,
            !newer.record.isClosed,
            newer.record.fence >= record.fence
        else { return false }
        let isNext = record.files.allSatisfy { name, identity in
            name == StoreRecord.name || newer.record.files[name] == identity || isDropped(name)
        }
        if isNext { file = newer }
        return isNext
    }

    /// Writes a new record if `change` modifies the current one. The caller holds the directory lock.
    func change(isSynced: Bool, _ change: (inout StoreRecord) -> Void) throws(LMDBError) {
        var next = record
        change(&next)
        guard next != record else { return }
        next.files = next.files.filter { !isDropped($0.key) }
        next.number &+= 1
        file = try directory.write(next, horizon, isSynced: isSynced)
    }

    // MARK: Buckets

    /// The listed buckets above the low-water mark.
    var buckets: Set<ReplayBucket> {
        Set(record.files.keys.compactMap { StoreDirectory.bucket(of: $0) }).filter { $0 > horizon.dropped }
    }

    /// Opens a bucket's file, which is created if there is none.
    func open(_ bucket: ReplayBucket) throws(LMDBError) -> BucketFile {
        try directory.alone(within: StoreDirectory.claimPatience) { () throws(LMDBError) in
            // Checked before another record is written, because that erases the trace of a moved directory.
            guard try stands() else { throw .lost }
            if let file = try openListed(bucket) { return file }
            return try make(bucket)
        }
    }

    /// Opens the file of a listed bucket; `nil` for a bucket that is not listed. The caller holds the directory lock.
    func openListed(_ bucket: ReplayBucket) throws(LMDBError) -> BucketFile? {
        let names = StoreDirectory.files(of: bucket)
        guard names.contains(where: { record.files[$0] != nil }) else { return nil }
        for name in names {
            guard let identity = record.files[name], directory.identity(of: name) == identity else { throw .lost }
        }
        return try BucketFile(opening: directory.place(names[0]), .init(of: bucket, in: horizon))
    }

    private func make(_ bucket: ReplayBucket) throws(LMDBError) -> BucketFile {
        let names = StoreDirectory.files(of: bucket)
        // A process that was killed while it created these files may have left some of them.
        names.forEach(directory.remove)
        let file = try BucketFile(making: directory.place(names[0]), .init(of: bucket, in: horizon))
        let identities = names.compactMap { directory.identity(of: $0) }
        guard identities.count == names.count else { throw .lost }
        try change(isSynced: false) { $0.files.merge(zip(names, identities)) { $1 } }
        return file
    }

    /// Deletes the files of all buckets up to `last`, including leftovers. A file that cannot be deleted stays, and
    /// does no harm but take space.
    func deleteBuckets(through last: ReplayBucket) {
        for name in bucketNames where StoreDirectory.bucket(of: name).map({ $0 <= last }) == true {
            directory.remove(name)
        }
    }

    /// The disk space in bytes that all buckets take; their files are sparse.
    func bytesOfBuckets() -> Int {
        bucketNames.reduce(0) { sum, name in
            var status = Glibc.stat()
            return stat(directory.place(name), &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    private var bucketNames: [String] {
        ((try? directory.names()) ?? []).filter { StoreDirectory.bucket(of: $0) != nil }
    }

    /// Marks the store as closed cleanly if this process is its last user; everything that any process claimed is on
    /// disk then. The caller holds the directory lock and has no bucket open.
    func close() throws(LMDBError) {
        guard try stands(), directory.isLastUser() else { return }
        try directory.sync(record.files.keys)
        try change(isSynced: true) { $0.isClosed = true }
    }
}

/// The names of the files of expiry buckets.
extension StoreDirectory {
    private static let bucketPrefix = "bucket-"

    /// The names of a bucket's data file and of its LMDB lock file.
    static func files(of bucket: ReplayBucket) -> [String] {
        ["", "-lock"].map { "\(bucketPrefix)\(bucket.index)\($0)" }
    }

    /// The bucket to which a file belongs; `nil` if it is not a bucket's file.
    static func bucket(of name: String) -> ReplayBucket? {
        guard name.hasPrefix(bucketPrefix) else { return nil }
        let rest = name.dropFirst(bucketPrefix.count)
        // The index of a minute before 1970 has a minus sign.
        let digits = rest.dropFirst(rest.first == "-" ? 1 : 0).prefix { $0.isASCII && $0.isNumber }
        return Int64(rest[..<digits.endIndex]).map { ReplayBucket(index: $0) }
    }
}
