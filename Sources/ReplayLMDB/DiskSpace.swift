internal import Basics
internal import CLMDB
internal import Glibc
internal import Synchronization

/// The disk that is set aside for a file. Writing to a page of a mapped file without disk behind it would end the
/// process with SIGBUS.
///
/// Disk is set aside in steps, each of them ahead of its use and on a thread of its own, so that no claim waits for the
/// file system. Only a writer that is faster than the file system sets it aside itself.
final class DiskSpace: Sendable {
    /// The bytes of a step.
    static let step = 1 << 20

    let descriptor: Int32
    private let limit: Int
    /// The number of bytes from the start of the file for which this process knows that disk is set aside.
    private let end: Atomic<Int>
    /// The number of bytes up to which a thread was last started to set disk aside.
    private let tried: Atomic<Int>

    /// - Parameters:
    ///   - descriptor: the open file, which is closed when this object is freed.
    ///   - end: the number of bytes from the start of the file for which disk is known to be set aside.
    ///   - limit: the number of bytes beyond which nothing is set aside ahead of its use.
    init(of descriptor: Int32, from end: Int, limit: Int) {
        self.descriptor = descriptor
        self.limit = limit
        self.end = Atomic(end)
        tried = Atomic(end)
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
        if needed > end.load(ordering: .acquiring) { try extend(to: needed) }
        let ahead = min(needed + Self.step, limit)
        guard ahead > tried.load(ordering: .relaxed) + Self.step / 2 else { return }
        tried.store(ahead, ordering: .relaxed)
        // If there is no thread, or no disk, the writer that needs the disk finds out.
        ServiceThread { [self] in try? extend(to: ahead) }?.detach()
    }

    private func extend(to wanted: Int) throws(LMDBError) {
        try Self.setAside(wanted, of: descriptor, "the log")
        end.max(wanted, ordering: .releasing)
    }

    /// Has the file system set disk aside for the first `bytes` bytes of a file. It is not emulated where the file
    /// system cannot do it: an emulation writes to pages that another process may be writing to.
    static func setAside(_ bytes: Int, of descriptor: Int32, _ name: String) throws(LMDBError) {
        while file_set_aside(descriptor, Int64(bytes)) != 0 {
            guard errno == EINTR else { throw LMDBError("cannot set disk aside for \(name): \(lastError())") }
        }
    }
}
