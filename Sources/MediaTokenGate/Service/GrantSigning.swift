internal import EventLoops
internal import Glibc
internal import Threading

/// The threads that fulfil orders which an event loop must not wait for, and how many may wait for them.
///
/// A place is reserved before the token is verified, so that no token is used up for a grant that cannot be made in time.
final class GrantSigning: Sendable {
    /// Orders may wait for so long as this many signatures take, which is about a second for RSA-2048.
    static let capacity = 1024

    private struct State {
        /// Orders that are being verified, wait, or are being fulfilled.
        var reserved = 0
        var jobs: [@Sendable () -> Void] = []
        var idleThreads = 0
        var threads = 0
    }

    private let mostThreads: Int
    private let state = Guarded(State())
    private let arrival = Semaphore()

    init(mostThreads: Int) { self.mostThreads = mostThreads }

    /// Reserves places, unless there are none left.
    func reserve() -> Bool {
        state.withLock { state in
            guard state.reserved < Self.capacity else { return false }
            state.reserved += 1
            return true
        }
    }

    func release() { state.withLock { $0.reserved -= 1 } }

    /// Has a thread do a job, for which a place is reserved; the place is free when it is done.
    func perform(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idleThreads, state.threads < mostThreads else { return false }
            state.threads += 1
            return true
        }
        // The threads stay for as long as the process.
        if needsThread {
            if let thread = ServiceThread({ [self] in serve() }) {
                thread.detach()
            } else {
                state.withLock { $0.threads -= 1 }
                return serveOnce()
            }
        }
        arrival.signal()
    }

    private func serve() {
        // Verifications go before grants.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        while true {
            state.withLock { $0.idleThreads += 1 }
            arrival.wait()
            state.withLock { $0.idleThreads -= 1 }
            serveOnce()
        }
    }

    private func serveOnce() {
        guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else { return }
        job()
        release()
    }
}

/// Hands the orders of one event loop to the signing threads, and their answers back to the loop's thread.
final class LoopGrants {
    let signing: GrantSigning
    private let finished = Guarded([(number: Int, reply: GateReply)]())
    /// What waits for the answer to each order.
    private var waiting: [Int: (GateReply) -> Void] = [:]
    private var orders = 0
    private var waker: LoopWaker?

    init(_ signing: GrantSigning, on loop: EventLoop) {
        self.signing = signing
        // Without a descriptor for it, the loop makes the grants itself.
        waker = try? LoopWaker(loop) { [unowned self] in takeBack() }
    }

    /// Has a thread make an answer, for which a place is reserved.
    ///
    /// - Parameter completion: called on the loop's thread.
    func make(_ reply: @escaping @Sendable () -> GateReply, _ completion: @escaping (GateReply) -> Void) {
        guard let signal = waker?.signal else {
            signing.release()
            return completion(reply())
        }
        orders += 1
        waiting[orders] = completion
        signing.perform { [finished, number = orders] in
            let made = reply()
            let isFirst = finished.withLock {
                $0.append((number, made))
                return $0.count == 1
            }
            if isFirst { signal.wake() }
        }
    }

    private func takeBack() {
        let replies = finished.withLock { finished in
            defer { finished = [] }
            return finished
        }
        for (number, reply) in replies { waiting.removeValue(forKey: number)?(reply) }
    }
}
