import HTTP
import MediaToken
import Synchronization
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Readiness of a gate by its store")
struct StoreReadinessTests {
    private static let fence = Timestamp(milliseconds: 1_800_000_000_559)

    private func at(_ milliseconds: Int64) -> Timestamp { Self.fence.advanced(byMilliseconds: milliseconds) }

    @Test("a fence has passed with the first second in which a token can be issued after it")
    func seconds() {
        for (milliseconds, seconds) in [
            (-30_000, 31), (-559, 1), (0, 1), (440, 1), (441, 0), (442, 0), (60_000, 0), (-560, 2),
        ] {
            #expect(Self.fence.secondsUntilPassed(at: at(Int64(milliseconds))) == Int64(seconds), "\(milliseconds)")
        }
        let whole = Timestamp(milliseconds: 1_800_000_000_000)
        #expect(whole.secondsUntilPassed(at: whole) == 1)
        #expect(whole.secondsUntilPassed(at: whole.advanced(byMilliseconds: 1000)) == 0)
    }

    @Test("a refusal for the fence says when to come back, as long as it is not over")
    func retry() throws {
        let verifier = try Mint.verifier(replays: MemoryReplayStore(fencedAt: Mint.now))
        guard case .rejected(let rejection) = try verifier.verify(Mint.token()) else { return #expect(Bool(false)) }
        func fields(_ milliseconds: Int64) -> [String] {
            let reply = AnswerFormat.document.reject(rejection, at: Mint.now.advanced(byMilliseconds: milliseconds))
            return reply.answer.headers.filter { $0.name == "Retry-After" }.map(\.value)
        }
        #expect(fields(-5000) == ["6"])
        #expect(fields(5000).isEmpty)
    }

    @Test("a gate waits for the fence of a new store once, and for a store that fails each time")
    func waitsOnce() {
        let ready = StoreReadiness(waits: true)
        let failure = ReplayStoreError.unavailable("down")
        #expect(ready.fence == nil)
        #expect(ready.answer(to: .success(ReplayStoreReport(fence: Self.fence)), at: at(-5000)) == .fenced(seconds: 6))
        #expect(ready.fence == Self.fence)
        #expect(ready.answer(to: .failure(failure), at: at(-4000)) == .failed(failure))
        #expect(ready.answer(to: .success(ReplayStoreReport(fence: Self.fence)), at: at(440)) == .fenced(seconds: 1))
        #expect(ready.answer(to: .success(ReplayStoreReport(fence: Self.fence)), at: at(441)) == .ready)
        let later = Self.fence.advanced(byMilliseconds: 100_000)
        #expect(ready.answer(to: .success(ReplayStoreReport(fence: later)), at: at(70_000)) == .ready)
        #expect(ready.fence == later)
        #expect(ready.answer(to: .failure(failure), at: at(71_000)) == .failed(failure))
        #expect(ready.answer(to: .success(ReplayStoreReport(fence: later)), at: at(72_000)) == .ready)
    }

    @Test("without a fence, or told not to wait, a gate is ready at once")
    func waitsNever() {
        #expect(StoreReadiness(waits: true).answer(to: .success(ReplayStoreReport(fence: nil)), at: at(0)) == .ready)
        let told = StoreReadiness(waits: false)
        #expect(told.answer(to: .success(ReplayStoreReport(fence: Self.fence)), at: at(-5000)) == .ready)
        #expect(told.answer(to: .failure(.full("1")), at: at(-5000)) == .failed(.full("1")))
        #expect(!told.isStopping)
        told.stop()
        #expect(told.isStopping)
    }

    @Test("a server that a quorum can do without is named once when it goes and once when it is back")
    func servers() {
        let changes = Mutex<[StoreReadiness.Change]>([])
        let ready = StoreReadiness(waits: false) { change in changes.withLock { $0.append(change) } }
        let problem = ReplayStoreError.unavailable("redis://eu is away")
        func take(_ problem: ReplayStoreError?) {
            let servers = [("eu", problem), ("us", nil)].map { ReplayStoreReport.Server(name: $0, problem: $1) }
            #expect(ready.answer(to: .success(ReplayStoreReport(fence: nil, servers: servers)), at: at(0)) == .ready)
        }
        for problem in [nil, problem, problem, nil, nil] { take(problem) }
        #expect(changes.withLock { $0 } == [.serversLost([problem]), .serversLost([])])
        #expect(ready.servers.map(\.name) == ["eu", "us"])
    }
}
