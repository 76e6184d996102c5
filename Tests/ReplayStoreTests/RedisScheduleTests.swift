import RedisSchedules
import TestSupport
import Testing

@Suite("Schedules of the Redis store's rounds")
struct RedisScheduleTests {
    @Test("no token is accepted twice or called used without a use, and each claim is answered by its deadline")
    func schedules() throws {
        for seed in 0..<UInt64(2000 / Program.slowness) {
            do throws(Schedule.Failure) { try Schedule.run(seed: seed) } catch {
                let shortest = Schedule.shrink(error.choices)
                let story = #expect(throws: Schedule.Failure.self) { try Schedule.run(shortest, journal: true) }
                Issue.record("seed \(seed): \(story?.description ?? error.description)")
                return
            }
        }
    }
}
