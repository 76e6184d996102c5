/// Threads for calls that may block, which the threads of Swift's cooperative pool must not make.
package enum BlockingCalls {
    /// The largest number of threads. If all are busy, a call waits until one is free.
    private static let mostThreads = 64

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var idleThreads = 0
        var threads = 0
    }

    private static let state = Guarded(State())
    private static let arrival = Semaphore()

    /// Has one of the threads make a call, and suspends the caller until it has returned.
    package static func perform<Value: Sendable>(_ call: @escaping @Sendable () -> Value) async -> Value {
        await handover { resume in add { resume(call()) } }
    }

    private static func add(_ call: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.waiting.append(call)
            guard state.waiting.count > state.idleThreads, state.threads < mostThreads else { return false }
            state.threads += 1
            return true
        }
        arrival.signal()
        guard needsThread else { return }
        if let thread = ServiceThread({ serve() }) { return thread.detach() }
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        // Without any thread the calling one makes the calls: its own, and those of others who could start no thread either.
        if isLast { while makeNext() {} }
    }

    private static func serve() -> Never {
        while true {
            state.withLock { $0.idleThreads += 1 }
            arrival.wait()
            state.withLock { $0.idleThreads -= 1 }
            makeNext()
        }
    }

    /// Makes the call that has waited longest; `false` if none waits.
    @discardableResult
    private static func makeNext() -> Bool {
        let call = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        call?()
        return call != nil
    }
}
