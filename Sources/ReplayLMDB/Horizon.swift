internal import Glibc
internal import MediaToken
internal import Synchronization

/// The low-water marks of a store: numbers that only rise, in a memory-mapped file, so that all users of the store see
/// each change at once.
///
/// The first number is the bucket up to which every bucket counts as deleted. A bucket's files are deleted only after
/// this number has moved past them. A process that claims in a bucket reads the number again before it answers, and so
/// never answers from a file that was deleted meanwhile. The other numbers reveal older copies of the store's files,
/// whose own counts are lower.
final class Horizon {
    private typealias Numbers = UnsafeMutablePointer<Atomic<Int64>>

    private static let count = 512
    private static let size = count * MemoryLayout<Atomic<Int64>>.stride
    /// The position of the first ``Watermark``; the numbers before it describe the whole store.
    private static let firstWatermark = 2

    private let numbers: Numbers

    /// Maps the file, which is created if absent. Its numbers are then zeros: the first minute of 1970, and record 0.
    init(_ path: String) throws(LMDBError) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError("has a file 'horizon' that cannot be opened: \(lastError())") }
        defer { close(file) }
        let code = posix_fallocate(file, 0, off_t(Self.size))
        guard code == 0 else { throw LMDBError("cannot set disk aside: \(String(cString: strerror(code)))") }
        guard let map = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
        else { throw LMDBError("has a file 'horizon' that cannot be mapped: \(lastError())") }
        numbers = map.assumingMemoryBound(to: Atomic<Int64>.self)
    }

    deinit {
        munmap(numbers, Self.size)
    }

    var dropped: ReplayBucket { ReplayBucket(index: value(at: 0)) }

    /// Moves the low-water mark forward to `bucket`, and never back.
    func move(to bucket: ReplayBucket) { raise(0, to: bucket.index) }

    /// The highest record number of the store, including that of a record that is being written.
    var records: Int64 { value(at: 1) }

    func count(record number: Int64) { raise(1, to: number) }

    fileprivate func value(at position: Int) -> Int64 { numbers[position].load(ordering: .acquiring) }

    fileprivate func raise(_ position: Int, to number: Int64) { numbers[position].max(number, ordering: .releasing) }

    /// A lower bound of the number of transactions that a bucket has had.
    ///
    /// Buckets that are 510 minutes apart share a position; the later one takes it over, as its number is greater.
    struct Watermark {
        private static let bits: Int64 = 37

        private let horizon: Horizon
        private let position: Int
        private let base: Int64

        init(of bucket: ReplayBucket, in horizon: Horizon) {
            self.horizon = horizon
            let places = Int64(Horizon.count - Horizon.firstWatermark)
            position = Horizon.firstWatermark + Int(bucket.index.magnitude % UInt64(places))
            // The index of a bucket before the year 2097 has at most 26 bits.
            base = bucket.index << Self.bits
        }

        var value: Int {
            let number = horizon.value(at: position) &- base
            return (0..<1 << Self.bits).contains(number) ? Int(number) : 0
        }

        func raise(to transaction: Int) { horizon.raise(position, to: base + Int64(transaction)) }
    }
}
