internal import CLMDB
internal import Glibc
internal import Synchronization
internal import Threading

/// The disk that is set aside for a file. Writing to a page of a mapped file without disk behind it would end the
/// process with SIGBUS.
///
/// Disk is set aside in steps, each of them ahead of its use and on a thread of its own, so that no claim waits for the
/// file system. Only a writer that is faster than the file system sets it aside itself.
final class DiskSpace: Sendable {
    /// The bytes of a step.
    static let step = 1 << 20

    private let descriptor: Int32
    private let limit: Int
    /// The number of bytes from the start of the file for which this process knows that disk is set aside.
    private let end: Atomic<Int>
    private let isExtending = Atomic(false)

    /// - Parameters:
    ///   - end: the number of bytes from the start of the file for which disk is known to be set aside.
    ///   - limit: the number of bytes beyond which nothing is set aside ahead of its use.
    init(of path: String, from end: Int, limit: Int) throws(LMDBError) {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(code: errno, action: "open the log") }
        self.limit = limit
        self.end = Atomic(end)
    }

    deinit {
        close(descriptor)
    }

    /// Has the kernel begin to read what the disk has of the file.
    func readAhead() {
        posix_fadvise(descriptor, 0, off_t(end.load(ordering: .relaxed)), POSIX_FADV_WILLNEED)
    }

    /// Makes sure that disk is set aside for the first `needed` bytes of the file.
    func setAside(_ needed: Int) throws(LMDBError) {
        let known = end.load(ordering: .acquiring)
        if needed > known { try LMDBError.check(extend(to: needed), "set \(needed >> 10) KiB of disk aside") }
        let ahead = min(needed + Self.step, limit)
        guard ahead > known + Self.step / 2, !isExtending.exchange(true, ordering: .acquiring) else { return }
        // If there is no thread, or no disk, the writer that needs the disk finds out.
        let thread = ServiceThread { [self] in
            _ = extend(to: ahead)
            isExtending.store(false, ordering: .releasing)
        }
        if let thread { thread.detach() } else { isExtending.store(false, ordering: .releasing) }
    }

    /// Sets disk aside.
    ///
    /// - Returns: 0, or the reason why the file system refused.
    private func extend(to wanted: Int) -> Int32 {
        let code = posix_fallocate(descriptor, 0, off_t(wanted))
        if code == 0 { end.max(wanted, ordering: .releasing) }
        return code
    }
}
