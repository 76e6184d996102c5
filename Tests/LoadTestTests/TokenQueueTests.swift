import Glibc
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing
@testable import LoadTest

@Suite("Queue of tokens")
struct TokenQueueTests {
    private func queue(_ plan: TokenQueue.Plan) throws -> TokenQueue {
        try TokenQueue(signing: TokenRecipe(issued: TokenDate(.now)), with: TestKeys.standard, plan)
    }

    @Test("flat out, so many are signed ahead, and no more than that wait; what is taken is replaced")
    func flatOut() throws {
        let queue = try queue(TokenQueue.Plan(ahead: 50, total: nil, seconds: 60))
        try queue.waitUntilReady { _, _ in }
        #expect(queue.count == 50)
        #expect(queue.speed > 0)
        var taken: [TokenCorpus.Item] = []
        while taken.count < 200 { if let item = queue.take() { taken.append(item) } }
        queue.close()
        #expect(Set(taken.map(\.token.bytes)).count == 200)
        #expect((200...250).contains(queue.count))
    }

    @Test("for a set rate, the whole run's tokens are signed and no more; the last can be taken after the end")
    func total() throws {
        let queue = try queue(TokenQueue.Plan(ahead: 0, total: 30, seconds: 1))
        try queue.waitUntilReady { _, _ in }
        var count = 0
        while count < 30 { if queue.take() != nil { count += 1 } }
        queue.close()
        #expect(queue.take() == nil)
        #expect(queue.count == 30)
    }

    @Test("half of the speed of signing is expected while the load runs")
    func plan() {
        let plan = TokenQueue.Plan(ahead: 0, total: 10_000, seconds: 10)
        #expect(plan.signedAhead(at: 1000) == 5000)
        #expect(plan.signedAhead(at: 4000) == 0)
        #expect(TokenQueue.Plan(ahead: 20_000, total: 10_000, seconds: 10).signedAhead(at: 4000) == 10_000)
        #expect(TokenQueue.Plan(ahead: 20_000, total: nil, seconds: 10).signedAhead(at: 4000) == 20_000)
    }

    @Test("at a set rate the tokens of ten seconds wait at most, or those that must be signed ahead")
    func young() throws {
        #expect(TokenQueue.Plan(ahead: 0, total: 36_000, seconds: 3600).mostWaiting(at: 4000) == 100)
        #expect(TokenQueue.Plan(ahead: 0, total: 3_600_000, seconds: 3600).mostWaiting(at: 1000) == 1_800_000)
        let queue = try queue(TokenQueue.Plan(ahead: 0, total: 10_000, seconds: 10_000))
        try queue.waitUntilReady { _, _ in }
        // The threads go on until the limit that now holds is reached.
        usleep(300_000)
        let before = queue.count
        for _ in 0..<20 { _ = queue.take() }
        usleep(300_000)
        queue.close()
        #expect(before < 10_000 && queue.count <= max(before, 10 + 20) + 8)
    }

    @Test("what can be signed neither before nor during the run is an error that says the rate that can")
    func tooMany() throws {
        let queue = try queue(TokenQueue.Plan(ahead: 0, total: 600_000_000, seconds: 600))
        defer { queue.close() }
        let error = #expect(throws: TokenQueue.RateError.self) { try queue.waitUntilReady { _, _ in } }
        #expect((error?.highestRate ?? 0) > 1_000_000 / 600)
        #expect((error?.highestRate ?? .infinity) < 1_000_000)
    }

    @Test("a turn that the end cuts short does not appear as a fall of the rate")
    func partialTurn() {
        var figures = GateFigures(seconds: 10)
        for _ in 0..<3 { figures.count(nil, nanoseconds: 1, at: 0.1) }
        figures.end(after: 1.3)
        #expect(figures.timeLine.turns.count == 6)
        #expect(figures.timeLine.turnSeconds == 0.2)
        figures.end(after: 0.1)
        #expect(figures.timeLine.turns.count == 1)
        #expect(figures.timeLine.turnSeconds == 0.1)
    }
}
