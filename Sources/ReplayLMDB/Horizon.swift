internal import Glibc
internal import MediaToken
internal import Synchronization

/// A number that only rises, and that all users of a store see at once: it lies in a mapped file.
final class RisingNumber {
    private let map: UnsafeMutablePointer<Atomic<Int64>>
    private let position: Int

    /// - Parameter position: which of the numbers in the file it is. A file that is absent is made; its numbers are zero.
    init(_ path: String, at position: Int = 0) throws(StoreFault) {
        let name = path.split(separator: "/").last ?? ""
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreFault("has a file '\(name)' that cannot be opened: \(lastError())") }
        defer { close(file) }
        let code = posix_fallocate(file, 0, off_t(Self.size))
        guard code == 0 else { throw StoreFault("cannot set disk aside: \(String(cString: strerror(code)))") }
        guard let map = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
        else { throw StoreFault("has a file '\(name)' that cannot be mapped: \(lastError())") }
        self.map = map.assumingMemoryBound(to: Atomic<Int64>.self)
        self.position = position
    }

    deinit {
        munmap(map, Self.size)
    }

    private static let size = 2 * MemoryLayout<Atomic<Int64>>.stride

    var value: Int64 { map[position].load(ordering: .acquiring) }

    func raise(to number: Int64) {
        map[position].max(number, ordering: .releasing)
    }
}

/// How far a store has come: up to which bucket everything was dropped, and how many records it has had.
///
/// A bucket's files go after the horizon has moved past them; whoever claims in a bucket looks here once more before it
/// answers, and so never answers from a file that was deleted meanwhile.
final class Horizon {
    /// Lags behind a record's own number by one at the most, where a process was killed after it wrote that record.
    let records: RisingNumber
    private let index: RisingNumber

    init(_ path: String) throws(StoreFault) {
        // A new file tells a minute in 1970.
        index = try RisingNumber(path, at: 0)
        records = try RisingNumber(path, at: 1)
    }

    var dropped: ReplayBucket { ReplayBucket(index: index.value) }

    /// Moves forward to `bucket`; not back.
    func move(to bucket: ReplayBucket) {
        index.raise(to: bucket.index)
    }
}
