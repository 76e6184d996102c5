internal import EventLoops
internal import Glibc
internal import Threading
internal import Timestamps

/// The threads that make grants which no event loop may wait for, and how many grants may wait for them.
final class GrantSigning: Sendable {
    /// The most grants that wait when another order is taken: as many as are signed in about a second with RSA-2048. Orders
    /// whose tokens are being verified at that moment come on top.
    static let capacity = 1024

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// How many jobs wait or are being done.
        var unfinished = 0
        var idleThreads = 0
        var threads = 0
    }

    private let mostThreads: Int
    private let state = Guarded(State())
    private let arrival = Semaphore()

    init(mostThreads: Int) { self.mostThreads = mostThreads }

    /// Whether so many grants wait that no further order is taken. The gate asks before it verifies the token, so that no
    /// token is consumed for a grant that is not made in time.
    var isFull: Bool { state.withLock { $0.unfinished >= Self.capacity } }

    /// Has a thread do a job.
    func perform(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            state.unfinished += 1
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
        state.withLock { $0.unfinished -= 1 }
    }
}

/// Hands the orders of one event loop to the signing threads, and their grants back to the loop's thread.
final class LoopGrants {
    private let signing: GrantSigning
    private let finished = Guarded([(number: Int, outcome: GrantOrder.Outcome)]())
    /// What waits for each grant that is being made.
    private var waiting: [Int: [(GrantOrder.Outcome) -> Void]] = [:]
    /// The numbers of the grants that are being made and that several tokens share.
    private var shared: [GrantOrder.Key: Int] = [:]
    private var count = 0
    private var waker: LoopWaker?

    init(_ signing: GrantSigning, on loop: EventLoop) {
        self.signing = signing
        // Without a descriptor for it, the loop itself makes the grants.
        waker = try? LoopWaker(loop) { [unowned self] in takeBack() }
    }

    /// Whether an order cannot be taken now.
    func refuses(_ order: GrantOrder, at now: Timestamp) -> Bool {
        order.isCostly && signing.isFull && order.recent(firstUse: now) == nil
    }

    /// The grant of an accepted token; `nil` if the loop must not wait for it, and the caller must have it signed.
    func make(_ order: GrantOrder, identifier: [UInt8], firstUse: Timestamp) -> GrantOrder.Outcome? {
        guard order.isCostly, waker != nil else {
            return order.outcome(identifier: identifier, firstUse: firstUse, at: .now)
        }
        return order.recent(firstUse: firstUse).map { .success($0) }
    }

    /// Has a thread make the grant of an accepted token. Tokens that share a grant wait for one.
    ///
    /// - Parameter completion: called on the loop's thread.
    func sign(
        _ order: GrantOrder, identifier: [UInt8], firstUse: Timestamp,
        _ completion: @escaping (GrantOrder.Outcome) -> Void
    ) {
        let key = order.key(firstUse: firstUse)
        if let key, let number = shared[key] {
            waiting[number]?.append(completion)
            return
        }
        count += 1
        waiting[count] = [completion]
        if let key { shared[key] = count }
        signing.perform { [finished, number = count, signal = waker?.signal] in
            let made = order.outcome(identifier: identifier, firstUse: firstUse, at: .now)
            let isFirst = finished.withLock {
                $0.append((number, made))
                return $0.count == 1
            }
            if isFirst { signal?.wake() }
        }
    }

    private func takeBack() {
        let outcomes = finished.withLock { finished in
            defer { finished = [] }
            return finished
        }
        let numbers = Set(outcomes.map(\.number))
        shared = shared.filter { !numbers.contains($0.value) }
        for (number, outcome) in outcomes {
            for completion in waiting.removeValue(forKey: number) ?? [] { completion(outcome) }
        }
    }
}
