internal import Glibc
internal import MediaToken
internal import Timestamps

/// The files of an open store, and whether they still are the store that its path leads to.
///
/// They are listed in the record, which is replaced as a whole. A bucket's files are listed once they are complete, and claimed
/// in only then, so that a process killed on the way leaves nothing but files that nobody has claimed in.
final class StoreCatalog {
    let directory: StoreDirectory
    let horizon: Horizon
    private var file: RecordFile
    /// The directory's ``StoreDirectory/lastChange`` when all listed files were seen to be there; `nil` if there may have been
    /// another change in the same tick of the kernel's clock.
    private var checked: Int64?

    private static let longestTick: Int64 = 50_000_000

    var record: StoreRecord { file.record }
    var fence: Timestamp { Timestamp(milliseconds: record.fence) }

    /// Opens the store that `file` lists. `nil` if a listed file is missing or is not the listed one. The caller holds the
    /// directory lock.
    init?(of directory: StoreDirectory, _ file: RecordFile) throws(StoreFault) {
        (self.directory, self.file) = (directory, file)
        // Asked before anything is made in it.
        let wasMoved = directory.lastChange == nil
        horizon = try Horizon(directory.place(StoreDirectory.horizonName))
        guard !wasMoved, lists(file.record) else { return nil }
        // An older record, or an older horizon, does not agree with the other; nor do they where a process was killed while it
        // replaced the record, whose draft is then there.
        guard record.number == horizon.records || record.number &+ 1 == horizon.records && directory.hasDraft
        else { return nil }
    }

    /// Begins a store in an emptied directory. The caller holds the directory lock.
    init(beginningIn directory: StoreDirectory, boot: String, fence: Int64) throws(StoreFault) {
        self.directory = directory
        horizon = try Horizon(directory.place(StoreDirectory.horizonName))
        var record = StoreRecord(boot: boot, fence: fence)
        for name in [StoreDirectory.usersName, StoreDirectory.horizonName] {
            record.files[name] = directory.identity(of: name)
        }
        file = try directory.write(record, horizon, isSynced: true)
    }

    /// Whether everything is there that a record lists.
    private func lists(_ record: StoreRecord) -> Bool {
        record.files.allSatisfy { directory.identity(of: $0.key) == $0.value || isDropped($0.key) }
    }

    /// Asked after a file was found to be missing: it may have been deleted because the horizon had moved.
    private func isDropped(_ name: String) -> Bool {
        StoreDirectory.bucket(of: name).map { $0 <= horizon.dropped } ?? false
    }

    /// Whether the path still leads to this store, and every listed file is there. Reads the record again if another process has
    /// replaced it.
    func stands() throws(StoreFault) -> Bool {
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

    /// Takes up a later record, which another process has written. `false` if there is none, or if it does not list all files that the
    /// one before did.
    private func refresh() throws(StoreFault) -> Bool {
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

    /// Writes another record if `change` makes one. The caller holds the directory lock.
    func change(isSynced: Bool, _ change: (inout StoreRecord) -> Void) throws(StoreFault) {
        var next = record
        change(&next)
        guard next != record else { return }
        next.files = next.files.filter { !isDropped($0.key) }
        next.number &+= 1
        file = try directory.write(next, horizon, isSynced: isSynced)
    }

    // MARK: Buckets

    /// The listed buckets that are not dropped.
    var buckets: Set<ReplayBucket> {
        Set(record.files.keys.compactMap { StoreDirectory.bucket(of: $0) }).filter { $0 > horizon.dropped }
    }

    /// Opens a bucket's file, which is made where there is none.
    func open(_ bucket: ReplayBucket) throws(StoreFault) -> BucketFile {
        try directory.alone(within: StoreDirectory.claimPatience) { () throws(StoreFault) in
            // Before another record is written, which wipes the trace of a move out.
            guard try stands() else { throw .lost }
            if let file = try openListed(bucket) { return file }
            return try make(bucket)
        }
    }

    /// `nil` for a bucket that is not listed. The caller holds the directory lock.
    func openListed(_ bucket: ReplayBucket) throws(StoreFault) -> BucketFile? {
        let names = StoreDirectory.files(of: bucket)
        guard names.contains(where: { record.files[$0] != nil }) else { return nil }
        for name in names {
            guard let identity = record.files[name], directory.identity(of: name) == identity else { throw .lost }
        }
        return try BucketFile(opening: directory.place(names[0]), .init(of: bucket, in: horizon))
    }

    private func make(_ bucket: ReplayBucket) throws(StoreFault) -> BucketFile {
        let names = StoreDirectory.files(of: bucket)
        // Left by a process that was killed while it made them.
        names.forEach(directory.remove)
        let file = try BucketFile(making: directory.place(names[0]), .init(of: bucket, in: horizon))
        let identities = names.compactMap { directory.identity(of: $0) }
        guard identities.count == names.count else { throw .lost }
        try change(isSynced: false) { $0.files.merge(zip(names, identities)) { $1 } }
        return file
    }

    /// Deletes the files of all buckets up to `last`, left-overs included. What cannot be deleted stays, and does no harm but take
    /// space.
    func deleteBuckets(through last: ReplayBucket) {
        for name in bucketNames where StoreDirectory.bucket(of: name).map({ $0 <= last }) == true {
            directory.remove(name)
        }
    }

    /// Disk that all buckets take; their files are sparse.
    func bytesOfBuckets() -> Int {
        bucketNames.reduce(0) { sum, name in
            var status = Glibc.stat()
            return stat(directory.place(name), &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    private var bucketNames: [String] {
        ((try? directory.names()) ?? []).filter { StoreDirectory.bucket(of: $0) != nil }
    }

    /// Marks the store as closed cleanly, if this is its last user, and all that anybody claimed is on the disk then. Called alone,
    /// with no bucket open.
    func close() throws(StoreFault) {
        guard try stands(), directory.isLastUser() else { return }
        try directory.sync(record.files.keys)
        try change(isSynced: true) { $0.isClosed = true }
    }
}

/// The names of buckets' files.
extension StoreDirectory {
    private static let bucketPrefix = "bucket-"

    /// The bucket's tokens, and LMDB's lock file.
    static func files(of bucket: ReplayBucket) -> [String] {
        ["", "-lock"].map { "\(bucketPrefix)\(bucket.index)\($0)" }
    }

    /// The bucket to which a file belongs.
    static func bucket(of name: String) -> ReplayBucket? {
        guard name.hasPrefix(bucketPrefix) else { return nil }
        let rest = name.dropFirst(bucketPrefix.count)
        // A minute before 1970 has a sign.
        let digits = rest.dropFirst(rest.first == "-" ? 1 : 0).prefix { $0.isASCII && $0.isNumber }
        return Int64(rest[..<digits.endIndex]).map { ReplayBucket(index: $0) }
    }
}
