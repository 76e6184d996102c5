internal import Glibc
internal import MediaToken
internal import Synchronization

/// Up to which bucket everything was dropped: one number that all users of a store see at once, in a mapped file.
///
/// It only moves forward. A bucket's files go after it has moved past them; whoever claims in a bucket looks here once more
/// before it answers, and so never answers from a file that was deleted meanwhile.
final class Horizon {
    private let number: UnsafeMutablePointer<Atomic<Int64>>

    init(_ path: String) throws(StoreFault) {
        let size = MemoryLayout<Atomic<Int64>>.size
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreFault("has a file 'horizon' that cannot be opened: \(lastError())") }
        defer { close(file) }
        // A new file is zeros, which is a minute in 1970.
        let code = posix_fallocate(file, 0, off_t(size))
        guard code == 0 else { throw StoreFault("cannot set disk aside: \(String(cString: strerror(code)))") }
        guard let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
        else { throw StoreFault("has a file 'horizon' that cannot be mapped: \(lastError())") }
        number = map.assumingMemoryBound(to: Atomic<Int64>.self)
    }

    deinit {
        munmap(number, MemoryLayout<Atomic<Int64>>.size)
    }

    var dropped: ReplayBucket {
        ReplayBucket(index: number.pointee.load(ordering: .acquiring))
    }

    /// Moves forward to `bucket`; not back.
    func move(to bucket: ReplayBucket) {
        number.pointee.max(bucket.index, ordering: .releasing)
    }
}
