import Glibc
package import MediaToken
import Synchronization

/// A directory with a file of used tokens, and the lock on it: one thread of one process has the file at a time.
package final class SharedDirectory: Sendable {
    /// The time for which a claim waits for other processes, which hold the lock for less than a millisecond unless
    /// they are stopped.
    package static let patience = Duration.milliseconds(250)

    private struct State {
        var uses: UseFile
        /// The last time at which a thread of this process waited for the lock in vain.
        var gaveUp: ContinuousClock.Instant?
    }

    private let lock: Int32
    private let state: Mutex<State>

    package init(_ path: String, at now: Timestamp) throws(ReplayStoreError) {
        lock = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw UseFile.error("open the lock") }
        state = Mutex(State(uses: UseFile("\(path)/uses")))
        try withLock { (uses) throws(ReplayStoreError) in try uses.begin(at: now) }
    }

    deinit { close(lock) }

    /// Runs `body` under the lock, with all that other processes have written.
    package func withLock<Value: Sendable>(
        _ body: (inout UseFile) throws(ReplayStoreError) -> Value
    ) throws(ReplayStoreError) -> Value {
        let begin = ContinuousClock.now
        return try state.withLock { (state) throws(ReplayStoreError) in
            // If another thread gave up while this one waited for it, this one has waited as long.
            let hasWaited = state.gaveUp.map { $0 > begin } ?? false
            let end = hasWaited ? begin : ContinuousClock.now + Self.patience
            while flock(lock, LOCK_EX | LOCK_NB) != 0 {
                guard ContinuousClock.now < end else {
                    state.gaveUp = .now
                    throw .unavailable("another process holds its lock; waited \(Self.patience)")
                }
                usleep(100)
            }
            defer { flock(lock, LOCK_UN) }
            do throws(ReplayStoreError) {
                try state.uses.read()
                return try body(&state.uses)
            } catch {
                // What this process has in memory may not be in the file.
                state.uses.forget()
                throw error
            }
        }
    }
}
