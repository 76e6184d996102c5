internal import Glibc
internal import MediaToken

/// The buckets' files in a store's directory.
extension StoreDirectory {
    private static let bucketPrefix = "bucket-"

    /// Removes all that a store holds.
    func discardData() throws(StoreFault) {
        for file in try bucketNames().map(\.name) + ["horizon"] where unlink("\(path)/\(file)") != 0 && errno != ENOENT
        {
            throw StoreFault("cannot be emptied: \(lastError())")
        }
    }

    /// Has all that a store holds on the disk, whoever wrote it.
    func sync() throws(StoreFault) {
        // Never a lock file: closing one takes away the locks of whoever has it open in this process.
        for name in try buckets().map({ file(of: $0) }) + [horizonFile] {
            // One that is deleted meanwhile needs no sync.
            let file = open(name, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            guard fsync(file) == 0 else { throw StoreFault("cannot be written: \(lastError())") }
        }
        try syncDirectory()
    }

    /// Where a bucket's tokens lie. LMDB adds a lock file beside.
    func file(of bucket: ReplayBucket) -> String {
        "\(path)/\(Self.bucketPrefix)\(bucket.index)"
    }

    /// The buckets that have a file of their own, lock files and drafts apart.
    func buckets() throws(StoreFault) -> [ReplayBucket] {
        try bucketNames().filter { $0.name == Self.bucketPrefix + String($0.bucket.index) }.map(\.bucket)
    }

    /// Deletes the files of all buckets up to `last`, drafts and lock files included. What cannot be deleted stays, and does no
    /// harm but take space.
    func deleteBuckets(through last: ReplayBucket) {
        guard let files = try? bucketNames() else { return }
        for file in files where file.bucket <= last { unlink("\(path)/\(file.name)") }
    }

    /// Disk that they take; they are sparse.
    func bytesOfBuckets() -> Int {
        guard let files = try? bucketNames() else { return 0 }
        return files.reduce(0) { sum, file in
            var status = Glibc.stat()
            return stat("\(path)/\(file.name)", &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
        }
    }

    /// The names of buckets' files: `bucket-`, the bucket's index, and nothing, `-lock` or a draft's ending.
    func bucketNames() throws(StoreFault) -> [(name: String, bucket: ReplayBucket)] {
        try Self.names(in: path).compactMap { name in
            guard name.hasPrefix(Self.bucketPrefix) else { return nil }
            let digits = name.dropFirst(Self.bucketPrefix.count).prefix { $0.isASCII && $0.isNumber }
            return Int64(digits).map { (name, ReplayBucket(index: $0)) }
        }
    }
}
