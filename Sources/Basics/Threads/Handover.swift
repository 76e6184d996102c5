/// Suspends the calling task until a value is handed over, on any thread.
///
/// - Parameter start: called at once; it must see to it that its argument is called once.
package func handover<Value: Sendable>(
    _ start: (_ resume: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    // The thread sanitizer does not see that resuming a continuation hands the value over; it does see the lock.
    let lock = Lock()
    let value = await withCheckedContinuation { continuation in
        start { value in
            lock.withLock {}
            continuation.resume(returning: value)
        }
    }
    lock.withLock {}
    return value
}
