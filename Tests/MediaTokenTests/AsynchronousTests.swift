import Basics
import Dispatch
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Asynchronous verification")
struct AsynchronousTests {
    /// Notes how many of its calls have begun, and how many of them run on a task, whose thread others wait for. Each
    /// call may be held until the test lets it go on.
    private final class WatchedStore: ReplayStore {
        private let store = MemoryReplayStore.unfenced()
        private let calls = Guarded((begun: 0, onTasks: 0))
        private let release: DispatchSemaphore?

        init(holdingCallsBy release: DispatchSemaphore? = nil) { self.release = release }

        var begunCalls: Int { calls.withLock { $0.begun } }
        var callsOnTasks: Int { calls.withLock { $0.onTasks } }

        func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
            let isOnTask = withUnsafeCurrentTask { $0 != nil }
            calls.withLock { calls in
                calls.begun += 1
                if isOnTask { calls.onTasks += 1 }
            }
            release?.wait()
            return store.claim(group, at: now)
        }
    }

    @Test("a token is accepted by one of many tasks, and all others are told that it is used")
    func once() async throws {
        let (verifier, token) = (try Mint.verifier(), try Mint.token())
        let codes = try await withThrowingTaskGroup(of: VerdictCode.self) { group in
            for _ in 0..<100 {
                group.addTask { try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code }
            }
            return try await group.reduce(into: [VerdictCode: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(codes == [.validToken: 1, .tokenAlreadyUsed: 99])
    }

    @Test("a group has the verdicts that its tokens have alone")
    func groups() async throws {
        let (good, expired) = (try Mint.token(), try Mint.token { $0.timeToLive = 1 })
        let requests = [good, "junk", expired, good].map {
            VerificationRequest(token: RawToken($0), expectation: Mint.expectation)
        }
        let later = Mint.now.advanced(by: .seconds(120))
        let codes = try await Mint.verifier().verify(requests, at: later).map { try $0.get().code }
        #expect(codes == [.validToken, .invalidTokenFormat, .tokenExpired, .tokenAlreadyUsed])
        #expect(try await Mint.verifier().verify([], at: later).isEmpty)
    }

    @Test("a store that may block is called on no thread of a task, and answers a token and a group alike")
    func blockingStore() async throws {
        let store = WatchedStore()
        let verifier = try Mint.verifier(replays: store)
        let tokens = try (0..<3).map { number in try Mint.token { $0.sessionGUID = "viewer-\(number)" } }
        let requests = tokens.map { VerificationRequest(token: RawToken($0), expectation: Mint.expectation) }
        let alone = try await verifier.verify(RawToken(tokens[0]), for: Mint.expectation, at: Mint.now).code
        let together = await verifier.verify(requests, at: Mint.now)
        #expect(alone == .validToken)
        #expect(try together.map { try $0.get().code } == [.tokenAlreadyUsed, .validToken, .validToken])
        #expect(store.begunCalls >= 2 && store.callsOnTasks == 0)
    }

    @Test("a task that is cancelled while the store decides has its token verified and consumed all the same")
    func cancelled() async throws {
        let release = DispatchSemaphore(value: 0)
        let store = WatchedStore(holdingCallsBy: release)
        let (verifier, token) = (try Mint.verifier(replays: store), try Mint.token())
        let verifying = Task { try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code }
        while store.begunCalls == 0 { await Task.yield() }
        verifying.cancel()
        // One for this call, and one for the next.
        for _ in 0..<2 { release.signal() }
        #expect(try await verifying.value == .validToken)
        #expect(
            try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code == .tokenAlreadyUsed)
    }
}
