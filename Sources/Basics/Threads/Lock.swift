internal import Glibc

/// A mutual exclusion lock. It is a POSIX mutex, because the thread sanitizer understands one.
///
/// `@unchecked Sendable`: a POSIX mutex may be used from several threads, and its address never changes.
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
    package func withLock<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Runs `body` if no thread holds the lock, without waiting; `nil` if one does.
    package func withLockIfFree<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unlock() }
        return try body()
    }

    @usableFromInline
    package func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    package func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value that can be accessed only while its lock is held.
///
/// `@unchecked Sendable`: only the thread that holds the lock can access the state.
package final class Guarded<State>: @unchecked Sendable {
    @usableFromInline
    let lock = Lock()
    /// The state is not a stored property: Swift would check at run time the exclusive access that the lock ensures.
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
    package func withLock<Value, Failure>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state.pointee)
    }
}
