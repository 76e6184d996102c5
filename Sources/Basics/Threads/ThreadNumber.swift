internal import Glibc
internal import Synchronization

/// Identifies the current thread, at the cost of one read from thread-specific memory.
package enum ThreadNumber {
    private static let latest = Atomic<UInt>(0)

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// A number from 1 that no other thread has had; 0 for every thread if the process has no thread-specific key left.
    package static var current: UInt {
        guard let key else { return 0 }
        if let known = pthread_getspecific(key) { return UInt(bitPattern: known) }
        let number = latest.add(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}
