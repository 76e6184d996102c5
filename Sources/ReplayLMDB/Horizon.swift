internal import Glibc
internal import MediaToken
internal import Synchronization

/// How far a store has come: numbers that only rise, and that all users of the store see at once, in a mapped file.
///
/// The first tells up to which bucket everything was dropped. A bucket's files go after it has moved past them; whoever claims in
/// a bucket looks here once more before it answers, and so never answers from a file that was deleted meanwhile. The others
/// tell older copies of the store's files, which have come less far.
final class Horizon {
    private typealias Numbers = UnsafeMutablePointer<Atomic<Int64>>

    private static let count = 512
    private static let size = count * MemoryLayout<Atomic<Int64>>.stride
    /// Of the numbers, those before tell of the store.
    private static let firstWatermark = 2

    private let numbers: Numbers

    /// Maps the file, which is made where it is absent. Its numbers are then zeros: a minute in 1970, and no record.
    init(_ path: String) throws(StoreFault) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreFault("has a file 'horizon' that cannot be opened: \(lastError())") }
        defer { close(file) }
        let code = posix_fallocate(file, 0, off_t(Self.size))
        guard code == 0 else { throw StoreFault("cannot set disk aside: \(String(cString: strerror(code)))") }
        guard let map = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
        else { throw StoreFault("has a file 'horizon' that cannot be mapped: \(lastError())") }
        numbers = map.assumingMemoryBound(to: Atomic<Int64>.self)
    }

    deinit {
        munmap(numbers, Self.size)
    }

    var dropped: ReplayBucket { ReplayBucket(index: value(at: 0)) }

    /// Moves forward to `bucket`; not back.
    func move(to bucket: ReplayBucket) { raise(0, to: bucket.index) }

    /// How many records the store has had, one that is being written included.
    var records: Int64 { value(at: 1) }

    func count(record number: Int64) { raise(1, to: number) }

    fileprivate func value(at position: Int) -> Int64 { numbers[position].load(ordering: .acquiring) }

    fileprivate func raise(_ position: Int, to number: Int64) { numbers[position].max(number, ordering: .releasing) }

    /// How many transactions a bucket has had, at least.
    ///
    /// Buckets that are 510 minutes apart have the same place, which the later one takes: its number is greater.
    struct Watermark {
        private static let bits: Int64 = 37

        private let horizon: Horizon
        private let position: Int
        private let base: Int64

        init(of bucket: ReplayBucket, in horizon: Horizon) {
            self.horizon = horizon
            let places = Int64(Horizon.count - Horizon.firstWatermark)
            position = Horizon.firstWatermark + Int(bucket.index.magnitude % UInt64(places))
            // A bucket before the year 2097 has no more than 26 bits.
            base = bucket.index << Self.bits
        }

        var value: Int {
            let number = horizon.value(at: position) &- base
            return (0..<1 << Self.bits).contains(number) ? Int(number) : 0
        }

        func raise(to transaction: Int) { horizon.raise(position, to: base + Int64(transaction)) }
    }
}
