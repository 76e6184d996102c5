/// Threads for calls that may block, which the threads of Swift's cooperative pool must not make.
package enum BlockingCalls {
    private static let waiting = Guarded<[@Sendable () -> Void]>([])

    private static let threads = JobThreads(most: 64) {
        let call = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        call?()
        return call != nil
    }

    /// Has one of the threads make a call, and suspends the caller until it has returned.
    package static func perform<Value: Sendable>(_ call: @escaping @Sendable () -> Value) async -> Value {
        await handover { resume in start { resume(call()) } }
    }

    /// Has one of the threads make a call, and lets the caller do something ten times per second until it has returned.
    ///
    /// - Parameter goesOn: Whether the caller still waits. If it does not, the result of the call is lost.
    /// - Returns: `nil` if the caller no longer waits.
    package static func perform<Value: Sendable>(
        _ call: @escaping @Sendable () -> Value, while goesOn: () -> Bool
    ) -> Value? {
        let (outcome, isDone) = (Guarded<Value?>(nil), Semaphore())
        start {
            let value = call()
            outcome.withLock { $0 = value }
            isDone.signal()
        }
        while !isDone.waitBriefly() { guard goesOn() else { return nil } }
        return outcome.withLock { $0 }
    }

    /// Has one of the threads make a call.
    package static func start(_ call: @escaping @Sendable () -> Void) {
        let count = waiting.withLock { waiting in
            waiting.append(call)
            return waiting.count
        }
        threads.wake(for: count)
    }

    /// Has one of the threads make a call that may throw, and suspends the caller until it has returned.
    package static func perform<Value: Sendable>(
        throwing call: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await perform { Result { try call() } }.get()
    }
}
