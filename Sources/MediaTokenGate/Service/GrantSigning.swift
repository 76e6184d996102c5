internal import Basics
internal import EventLoops
internal import Glibc
internal import PlaybackGrants

/// The threads that make grants which no event loop may wait for, and how many grants may wait for them.
final class GrantSigning: Sendable {
    /// The most grants that wait when another order is taken: as many as are signed in about a second with RSA-2048.
    /// Orders whose tokens are being verified at that moment come on top.
    static let capacity = 1024
    /// The most retries that wait. Without a limit, the owner of one used token could fill the queue.
    static let retryCapacity = 64
    /// After so many other jobs one retry gets its turn, so that none waits for ever.
    private static let jobsBeforeRetry = 16

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// The jobs for clients that ask again.
        var retries: [@Sendable () -> Void] = []
        /// How many of ``jobs`` a thread has begun since one last began a retry.
        var jobsSinceRetry = 0
        /// How many jobs are being done.
        var running = 0

        /// Adds a job, unless it is a retry and too many of those wait.
        ///
        /// - Returns: How many jobs wait then; `nil` if the job was not added.
        mutating func add(_ job: @escaping @Sendable () -> Void, isRetry: Bool) -> Int? {
            if isRetry {
                guard retries.count < retryCapacity else { return nil }
                retries.append(job)
            } else {
                jobs.append(job)
            }
            return jobs.count + retries.count
        }

        /// Takes the job that is next; `nil` if there is none.
        mutating func next() -> (@Sendable () -> Void)? {
            if !retries.isEmpty, jobs.isEmpty || jobsSinceRetry >= jobsBeforeRetry {
                jobsSinceRetry = 0
                return retries.removeFirst()
            }
            guard !jobs.isEmpty else { return nil }
            jobsSinceRetry += 1
            return jobs.removeFirst()
        }
    }

    private let state: Guarded<State>
    private let threads: JobThreads

    init(mostThreads: Int) {
        let state = Guarded(State())
        self.state = state
        threads = JobThreads(
            most: mostThreads,
            // Verifications go before grants.
            prepare: { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) },
            doNext: { Self.doNext(of: state) })
    }

    /// Whether so many grants wait that no further order is taken. The gate asks before it verifies the token, so that
    /// no token is consumed for a grant that is not made in time.
    var isFull: Bool { state.withLock { $0.jobs.count >= Self.capacity } }

    /// Has a thread do a job.
    ///
    /// - Parameter isRetry: Whether the job is for a client that asks again. Such a job waits behind most others.
    /// - Returns: Whether the job will be done; false if too many clients that ask again wait.
    func perform(isRetry: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        guard let waiting = state.withLock({ $0.add(job, isRetry: isRetry) }) else { return false }
        threads.wake(for: waiting)
        return true
    }

    /// Drops the jobs that wait, and returns when no thread is inside of libcrypto any more, so that the process can
    /// end. The caller must have ended the event loops, which add jobs.
    func stop() {
        state.withLock { ($0.jobs, $0.retries) = ([], []) }
        while state.withLock({ $0.running > 0 }) { usleep(1000) }
    }

    /// Does the job that is next; `false` if there is none.
    private static func doNext(of state: Guarded<State>) -> Bool {
        let job: (@Sendable () -> Void)? = state.withLock { state in
            guard let job = state.next() else { return nil }
            state.running += 1
            return job
        }
        guard let job else { return false }
        job()
        state.withLock { $0.running -= 1 }
        return true
    }
}

/// Hands the orders of one event loop to the signing threads, and their grants back to the loop's thread.
final class LoopGrants {
    private let signing: GrantSigning
    /// The completions to call for each grant that a thread makes, by the number of the grant.
    private var waiting: [Int: [(GrantOrder.Outcome) -> Void]] = [:]
    /// A grant that is being made and that several tokens share. Only clients that ask again wait for one that is made
    /// for such a client, because it takes longer.
    private struct Shared: Hashable {
        let key: GrantOrder.Key
        let isRetry: Bool
    }

    /// The numbers of the grants that are being made.
    private var shared: [Shared: Int] = [:]
    private var count = 0
    private var finished: LoopMailbox<(number: Int, outcome: GrantOrder.Outcome)>?

    init(_ signing: GrantSigning, on loop: EventLoop) {
        self.signing = signing
        // Without a descriptor for it, the loop itself makes the grants.
        finished = try? LoopMailbox(loop) { [unowned self] number, outcome in takeBack(number, outcome) }
    }

    /// Whether an order cannot be taken now.
    func refuses(_ order: GrantOrder, at now: Timestamp) -> Bool {
        order.isCostly && signing.isFull && order.recent(firstUse: now) == nil
    }

    /// The grant of an accepted token; `nil` if the loop must not wait for it, and the caller must have it signed.
    func make(_ order: GrantOrder, identifier: [UInt8], firstUse: Timestamp) -> GrantOrder.Outcome? {
        guard order.isCostly, finished != nil else {
            return order.outcome(identifier: identifier, firstUse: firstUse, at: .now)
        }
        return order.recent(firstUse: firstUse).map { .success($0) }
    }

    /// Has a thread make the grant of an accepted token. Tokens that share a grant wait for one.
    ///
    /// - Parameters:
    ///   - isRetry: Whether the token was used before, and its client asks for the same grant again.
    ///   - completion: Called on the loop's thread, perhaps before this returns.
    func sign(
        _ order: GrantOrder, identifier: [UInt8], firstUse: Timestamp, isRetry: Bool,
        _ completion: @escaping (GrantOrder.Outcome) -> Void
    ) {
        let key = order.key(firstUse: firstUse)
        if let key {
            let number = shared[Shared(key: key, isRetry: false)] ?? shared[Shared(key: key, isRetry: isRetry)]
            if let number {
                waiting[number]?.append(completion)
                return
            }
        }
        count += 1
        let isTaken = signing.perform(isRetry: isRetry) { [number = count, slot = finished?.slot] in
            slot?.put((number, order.outcome(identifier: identifier, firstUse: firstUse, at: .now)))
        }
        guard isTaken else { return completion(.failure(Self.tooManyRetries)) }
        waiting[count] = [completion]
        if let key { shared[Shared(key: key, isRetry: isRetry)] = count }
    }

    private static let tooManyRetries = GrantError(
        "signature",
        "\(GrantSigning.retryCapacity) retries already wait; ask again in a second, with the same Idempotency-Key")

    private func takeBack(_ number: Int, _ outcome: GrantOrder.Outcome) {
        if let shared = shared.first(where: { $0.value == number }) { self.shared[shared.key] = nil }
        for completion in waiting.removeValue(forKey: number) ?? [] { completion(outcome) }
    }
}
