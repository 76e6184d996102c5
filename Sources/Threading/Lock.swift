internal import Glibc

/// A mutual exclusion lock. A POSIX mutex, since the thread sanitizer understands it.
///
/// `@unchecked Sendable`: a POSIX mutex is made to be used from several threads, and its address never changes.
package final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    @inlinable
    package func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    @usableFromInline
    package func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    package func unlock() { pthread_mutex_unlock(mutex) }
}

/// Something that is reached under its lock only.
///
/// `@unchecked Sendable`: nobody has the state but who holds the lock.
package final class Guarded<State>: @unchecked Sendable {
    @usableFromInline
    let lock = Lock()
    /// Not a property of its own: Swift would check at run time, at each use, what the lock sees to.
    @usableFromInline
    let state: UnsafeMutablePointer<State>

    @inlinable
    package init(_ initial: State) {
        state = .allocate(capacity: 1)
        state.initialize(to: initial)
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inlinable
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        lock.withLock { body(&state.pointee) }
    }
}
