internal import Glibc
internal import MediaToken
internal import Synchronization

/// The low-water marks of a store: numbers that only rise, in a memory-mapped file, so that all users of the store see
/// each change at once. The counts reveal older copies of the store's files, whose own counts are lower.
final class Horizon {
    private typealias Numbers = UnsafeMutablePointer<Atomic<Int64>>

    private static let size = 4096

    private let numbers: Numbers

    /// Maps the file, which is created if absent. Its numbers are then zeros: the first minute of 1970, record 0, and
    /// transaction 0.
    init(in directory: StoreDirectory) throws(LMDBError) {
        let file = try directory.open(StoreDirectory.horizonName, O_RDWR | O_CREAT)
        defer { close(file) }
        try DiskSpace.setAside(Self.size, of: file, "its file 'horizon'")
        guard let map = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
        else { throw LMDBError("has a file 'horizon' that cannot be mapped: \(lastError())") }
        numbers = map.assumingMemoryBound(to: Atomic<Int64>.self)
    }

    deinit {
        munmap(numbers, Self.size)
    }

    /// The bucket up to which every bucket counts as deleted. It changes only within a transaction of the log.
    var dropped: ReplayBucket { ReplayBucket(index: value(at: 0)) }

    /// Moves the bucket up to which every bucket counts as deleted forward to `bucket`, and never back.
    func move(to bucket: ReplayBucket) { raise(0, to: bucket.index) }

    /// The highest record number of the store, including that of a record that is being written.
    var records: Int64 { value(at: 1) }

    func count(record number: Int64) { raise(1, to: number) }

    /// A lower bound of the number of transactions that the log has had.
    var transactions: Int { Int(value(at: 2)) }

    func count(transactions: Int) { raise(2, to: Int64(transactions)) }

    /// When the store's record was last replaced, as the directory's time of modification has it. Any other file that
    /// is created, moved or deleted in the directory gives it a later one.
    var recordReplaced: Int64 { value(at: 3) }

    func note(recordReplaced time: Int64) { raise(3, to: time) }

    private func value(at position: Int) -> Int64 { numbers[position].load(ordering: .acquiring) }

    private func raise(_ position: Int, to number: Int64) { numbers[position].max(number, ordering: .releasing) }
}
