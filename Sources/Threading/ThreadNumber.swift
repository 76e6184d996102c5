internal import Glibc
internal import Synchronization

/// Tells threads apart at the price of a look into the thread's own memory.
package enum ThreadNumber {
    private static let latest = Atomic<UInt>(0)

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// A number from 1 up that no other thread has had; 0 for all of them where the process has no place left for it.
    package static var current: UInt {
        guard let key else { return 0 }
        if let known = pthread_getspecific(key) { return UInt(bitPattern: known) }
        let number = latest.add(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}
