/// Threads that do the jobs of a queue, which its owner keeps. They are started as jobs come, and stay for as long as
/// the process.
package final class JobThreads: Sendable {
    private struct State {
        var idle = 0
        var started = 0
    }

    private let most: Int
    private let prepare: @Sendable () -> Void
    private let doNext: @Sendable () -> Bool
    private let state = Guarded(State())
    private let arrival = Semaphore()

    /// Creates the threads' owner; no thread is started yet.
    ///
    /// - Parameters:
    ///   - most: the largest number of threads. If all are busy, a job waits until one is free.
    ///   - prepare: called once by each thread, before its first job.
    ///   - doNext: does the job that is next in the queue; `false` if there is none.
    package init(
        most: Int, prepare: @escaping @Sendable () -> Void = {}, doNext: @escaping @Sendable () -> Bool
    ) {
        (self.most, self.prepare, self.doNext) = (most, prepare, doNext)
    }

    /// Has a thread do a job that was added to the queue. If no thread can be had, the caller does the jobs itself.
    ///
    /// - Parameter waiting: the number of jobs in the queue, the new one included.
    package func wake(for waiting: Int) {
        let needsThread = state.withLock { state in
            guard waiting > state.idle, state.started < most else { return false }
            state.started += 1
            return true
        }
        arrival.signal()
        guard needsThread else { return }
        if let thread = ServiceThread({ [self] in serve() }) { return thread.detach() }
        let isLast = state.withLock { state in
            state.started -= 1
            return state.started == 0
        }
        // Other callers may have failed to start a thread too, so the last one does the jobs of all.
        if isLast { while doNext() {} }
    }

    private func serve() -> Never {
        prepare()
        while true {
            state.withLock { $0.idle += 1 }
            arrival.wait()
            state.withLock { $0.idle -= 1 }
            _ = doNext()
        }
    }
}
