import Dispatch
import Foundation
import MediaToken
import TestSupport
import Testing
import Threading
import TokenIssuer

@Suite("Asynchronous verification")
struct AsynchronousTests {
    /// Blocks the calling thread until the test says so, and gives up if the test cannot say so for minutes.
    private final class SlowStore: ReplayStore {
        private let store = MemoryReplayStore.unfenced()
        private let calls = Guarded((begun: 0, areGivenUp: false))
        let release = DispatchSemaphore(value: 0)

        var begunCalls: Int { calls.withLock { $0.begun } }
        var gaveUp: Bool { calls.withLock { $0.areGivenUp } }

        func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
            let waits = calls.withLock { calls in
                calls.begun += 1
                return !calls.areGivenUp
            }
            if waits, release.wait(timeout: .now() + 300) == .timedOut { calls.withLock { $0.areGivenUp = true } }
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

    @Test("a store that blocks takes no thread from other tasks")
    func slowStore() async throws {
        let store = SlowStore()
        let verifier = try Mint.verifier(replays: store)
        // As many as would take all threads of the pool, and leave none for this test; at most as many calls block at a time.
        let count = min(ProcessInfo.processInfo.activeProcessorCount + 16, 64)
        let tokens = try (0..<count).map { number in try Mint.token { $0.sessionGUID = "viewer-\(number)" } }
        let verifying = tokens.map { token in
            Task { try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code }
        }
        while store.begunCalls < count { await Task.yield() }
        #expect(!store.gaveUp)
        for _ in 0..<count { store.release.signal() }
        for task in verifying { #expect(try await task.value == .validToken) }
    }

    @Test("a task that is cancelled has its token verified and consumed all the same")
    func cancelled() async throws {
        let store = SlowStore()
        let (verifier, token) = (try Mint.verifier(replays: store), try Mint.token())
        let verifying = Task { try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code }
        verifying.cancel()
        for _ in 0..<2 { store.release.signal() }
        #expect(try await verifying.value == .validToken)
        #expect(
            try await verifier.verify(RawToken(token), for: Mint.expectation, at: Mint.now).code == .tokenAlreadyUsed)
    }
}
