internal import Glibc

/// An exclusive lock on an open file or directory, among all processes of the host.
///
/// The kernel releases the lock of a process that dies, and knows its holder by the open file: containers, whose
/// processes may have equal numbers, exclude each other too.
enum FileLock {
    /// Runs `body` while this descriptor holds the lock.
    ///
    /// - Parameters:
    ///   - patience: how long to wait for other holders.
    ///   - pause: how long to wait between two attempts, in microseconds.
    /// - Throws: an error if another holder has the lock for longer, or what `body` throws.
    static func hold<Value>(
        _ descriptor: Int32, patience: Duration, pause: UInt32, _ body: () throws(LMDBError) -> Value
    ) throws(LMDBError) -> Value {
        var end: ContinuousClock.Instant?
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR || errno == EWOULDBLOCK else { throw LMDBError("cannot be locked: \(lastError())") }
            let now = ContinuousClock.now
            guard now < end ?? now + patience else { throw .heldUp(for: patience) }
            end = end ?? now + patience
            usleep(pause)
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
