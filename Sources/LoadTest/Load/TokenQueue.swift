internal import Basics
internal import Glibc
internal import MediaToken
package import MediaTokenTesting
package import TokenCrypto

/// Tokens to be sent once each, in order: captured ones, or ones that threads of low priority sign meanwhile.
///
/// The load test's thread takes them. A queue's creator must ``close()`` it, which ends the threads.
package final class TokenQueue: Sendable {
    /// How many tokens a load test needs, and when it may begin.
    package struct Plan: Sendable {
        /// The number of tokens to be signed before the load begins.
        package var ahead: Int
        /// The number of tokens that the whole run takes; `nil` if it takes as many as the gate can answer.
        package var total: Int?
        /// The duration of the run in seconds.
        package var seconds: Double

        package init(ahead: Int, total: Int?, seconds: Double) {
            self.ahead = min(ahead, total ?? ahead)
            (self.total, self.seconds) = (total, seconds)
        }

        /// The number of tokens to be signed before the run, if signing makes `speed` tokens per second. While the load
        /// runs, half of that is expected, because the gate and the load test need the processors too.
        func signedAhead(at speed: Double) -> Double {
            max(Double(ahead), Double(total ?? 0) - speed / 2 * seconds)
        }

        /// The most tokens that wait while the load runs. At a set rate a token waits for ten seconds at most, unless
        /// more must be signed ahead, so that a long run sends tokens that are young, as players do.
        func mostWaiting(at speed: Double) -> Int {
            Int(max(signedAhead(at: speed), Double(total ?? 0) / max(1, seconds) * 10))
        }
    }

    /// More tokens would have to be signed before the run than fit in memory.
    package struct RateError: Error {
        /// The number of tokens signed per second.
        package let speed: Double
        /// The highest rate at which the run is possible.
        package let highestRate: Double
    }

    /// The most tokens that wait to be sent, each about 1 KB.
    package static let capacityLimit = 1_000_000
    /// The time for which signing is watched before its speed counts, in seconds.
    private static let observation = 0.5

    private struct State {
        var places: [TokenCorpus.Item?]
        var begun = 0
        var signed = 0
        var taken = 0
        /// The most tokens that may wait, or be signed at this moment.
        var limit: Int
        /// The number of threads that wait for room.
        var parked = 0
        var isClosed = false
        var error: CryptoError?
        /// The number of tokens signed per second, all threads together, before the first was taken.
        var speed = 0.0
    }

    /// Whether tokens are signed while others are sent.
    package let isSigning: Bool
    private let plan: Plan
    private let capacity: Int
    private let state: Guarded<State>
    private let room = Semaphore()
    private let news = Semaphore()
    private let threads: Guarded<[ServiceThread]> = Guarded([])

    /// Creates a queue of captured tokens.
    package init(_ corpus: TokenCorpus) {
        let count = corpus.items.count
        (isSigning, capacity, plan) = (false, max(1, count), Plan(ahead: count, total: count, seconds: 0))
        var state = State(places: corpus.items, limit: count)
        (state.begun, state.signed) = (count, count)
        self.state = Guarded(state)
    }

    /// Starts to sign tokens of `recipe`, one thread for each processor. Each token is issued when it is signed.
    ///
    /// - Throws: `Workers.ThreadError` if the process may have no more threads.
    package init(signing recipe: TokenRecipe, with key: RSASigningKey, _ plan: Plan) throws {
        isSigning = true
        self.plan = plan
        capacity = max(1, min(plan.total ?? plan.ahead, Self.capacityLimit))
        state = Guarded(State(places: Array(repeating: nil, count: capacity), limit: capacity))
        let signer = TokenSigner(key: key)
        for _ in 0..<max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
            guard let thread = ServiceThread({ [self] in sign(recipe, with: signer) }) else {
                close()
                throw Workers.ThreadError()
            }
            threads.withLock { $0.append(thread) }
        }
    }

    /// Ends the threads. Tokens that wait can still be taken.
    package func close() {
        let parked = state.withLock { state in
            state.isClosed = true
            return state.parked
        }
        for _ in 0..<parked { room.signal() }
        for thread in threads.withLock({ threads in threads }) { thread.join() }
        threads.withLock { $0 = [] }
    }

    /// The number of tokens signed or captured so far.
    package var count: Int { state.withLock { $0.signed } }

    /// The number of tokens signed per second before the load began.
    package var speed: Double { state.withLock { $0.speed } }

    /// The next token; `nil` if none waits.
    func take() -> TokenCorpus.Item? {
        state.withLock { state in
            guard state.taken < state.signed else { return nil }
            let place = state.taken % capacity
            let item = state.places[place]
            state.places[place] = nil
            state.taken += 1
            if state.parked > 0, state.begun - state.taken < state.limit {
                state.parked -= 1
                room.signal()
            }
            return item
        }
    }

    /// Waits until so many tokens are signed that the load may begin.
    ///
    /// - Parameter progress: Called with the number of tokens signed so far, and the number at which the load begins.
    /// - Throws: `CryptoError`, and ``RateError`` if the whole run needs more tokens than can be signed.
    package func waitUntilReady(progress: (Int, Int) -> Void) throws {
        let begin = MonotonicTime.nanoseconds
        while true {
            let (signed, error) = state.withLock { ($0.signed, $0.error) }
            if let error { throw error }
            let elapsed = Double(MonotonicTime.nanoseconds - begin) / 1e9
            let speed = elapsed > 0 ? Double(signed) / elapsed : 0
            let needed = plan.signedAhead(at: speed)
            let isComplete = signed == plan.total
            if isComplete || plan.total == nil || elapsed >= Self.observation {
                state.withLock { $0.speed = speed }
                guard needed <= Double(Self.capacityLimit) else {
                    throw RateError(
                        speed: speed,
                        highestRate: (Double(Self.capacityLimit) + speed / 2 * plan.seconds) / plan.seconds)
                }
                progress(signed, max(1, Int(needed)))
                if isComplete || Double(signed) >= needed {
                    return state.withLock { $0.limit = max(1, min(capacity, plan.mostWaiting(at: speed))) }
                }
            }
            news.wait()
        }
    }

    private func sign(_ recipe: TokenRecipe, with signer: TokenSigner) {
        // On Linux the priority belongs to a thread.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        var recipe = recipe
        while mayBeginAnother() {
            recipe.issued = TokenDate(.now)
            let outcome = Result { () throws(CryptoError) in try signer.item(recipe) }
            state.withLock { state in
                switch outcome {
                case .success(let item):
                    state.places[state.signed % capacity] = item
                    state.signed += 1
                case .failure(let error): (state.error, state.isClosed) = (error, true)
                }
            }
            news.signal()
        }
    }

    /// Whether the calling thread shall sign one more token. It waits while there is no room for one.
    private func mayBeginAnother() -> Bool {
        while true {
            let answer: Bool? = state.withLock { state in
                guard !state.isClosed, state.begun != plan.total else { return false }
                guard state.begun - state.taken < state.limit else {
                    state.parked += 1
                    return nil
                }
                state.begun += 1
                return true
            }
            if let answer { return answer }
            room.wait()
        }
    }
}
