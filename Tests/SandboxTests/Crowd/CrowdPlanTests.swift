import Sandbox
import Testing

@Suite("the plan of a crowd")
struct CrowdPlanTests {
    private func parties(_ plan: CrowdPlan) -> [CrowdParty] { (0..<plan.blocks).flatMap { plan.parties(inBlock: $0) } }

    @Test("a seed says everything, and each block by itself")
    func seed() {
        let plans = [1, 1, 2].map { CrowdPlan(devices: 1000, seconds: 60, seed: $0) }
        #expect(parties(plans[0]) == parties(plans[1]) && parties(plans[0]) != parties(plans[2]))
    }

    @Test("each device is in one party, whatever the size", arguments: [1, 2, 15, 16, 17, 100, 1003])
    func partition(devices: Int) {
        var next = 0
        for party in parties(CrowdPlan(devices: devices, seconds: 60)) {
            #expect(party.first == next && party.story.devices > 0)
            next += party.story.devices
        }
        #expect(next == devices)
    }

    @Test("every story is played, and only those that are asked for")
    func stories() {
        let names = Set(parties(CrowdPlan(devices: 20_000, seconds: 60)).map(\.story.name))
        let cards = CrowdStory.cards.map { "card \($0.name)" }
        #expect(names == Set(CrowdStory.Kind.allCases.filter { $0 != .card }.map(\.rawValue) + cards))
        let only = parties(CrowdPlan(devices: 200, seconds: 60, only: [.retry, .restart])).map(\.story.kind)
        #expect(Set(only) == [.retry, .restart])
    }

    @Test("devices arrive in order, and within the time", arguments: CrowdCurve.allCases)
    func arrivals(curve: CrowdCurve) {
        let times = parties(CrowdPlan(devices: 5000, seconds: 60, curve: curve)).map(\.arrival)
        #expect(times == times.sorted())
        #expect(times.allSatisfy { (0..<60).contains($0) })
    }

    @Test(
        "each curve has its shape: the parts of the devices that arrive in each fifth of the time",
        arguments: zip(
            [CrowdCurve.steady, .ramp, .kickOff],
            [[0.2, 0.2, 0.2, 0.2, 0.2], [0.04, 0.12, 0.2, 0.28, 0.36], [0.067, 0.2, 0.333, 0.3, 0.1]]))
    func shape(curve: CrowdCurve, parts: [Double]) {
        var counts = [Int](repeating: 0, count: 5)
        for number in 0..<10_000 {
            counts[min(4, Int(curve.time(whenArrived: (Double(number) + 0.5) / 10_000) * 5))] += 1
        }
        for (count, part) in zip(counts, parts) { #expect(abs(Double(count) / 10_000 - part) < 0.002, "\(counts)") }
    }

    @Test("clocks are wrong, some by hours, and on the whole neither ahead nor behind")
    func clocks() {
        let errors = parties(CrowdPlan(devices: 20_000, seconds: 60)).map(\.clockError)
        #expect(errors.contains { $0 > 36_000 } && errors.contains { $0 < -36_000 })
        #expect(errors.count { abs($0) <= 2 } > errors.count / 2)
        #expect(abs(errors.count { $0 > 0 } - errors.count { $0 < 0 }) < errors.count / 20)
    }

    @Test("what is expected of a story adds up: one answer for each post, and a play for each acceptance")
    func expectations() {
        for party in parties(CrowdPlan(devices: 20_000, seconds: 60)) {
            let story = party.story
            let events = story.expectation(hasRetryWindow: false, segments: 2).events
            func count(_ place: CrowdEvent.Stage, _ code: String = "") -> Int {
                events.filter { $0.key.stage == place && $0.key.code.hasPrefix(code) }.reduce(0) { $0 + $1.value }
            }
            let tokens = count(.decision) > 0 ? 0 : story.hasSecondApp ? 2 : 1
            #expect(count(.play) == tokens * story.posts.reduce(0) { $0 + $1.count }, "\(story)")
            #expect(count(.play, "VALID_TOKEN") <= tokens, "\(story)")
            #expect(count(.stream, CrowdOutcome.opened) == 3 * count(.play, "VALID_TOKEN"), "\(story)")
            #expect(count(.login, "logged in") == (story.kind == .otherTeam ? 2 : 1), "\(story)")
        }
    }

    @Test("within a retry window, the second post with the key is accepted too, and is no second play")
    func retryWindow() {
        let events = CrowdStory(.retry).expectation(hasRetryWindow: true, segments: 1).events
        #expect(events[CrowdEvent(.play, "VALID_TOKEN")] == 2)
        #expect(events[CrowdEvent(.stream, CrowdOutcome.opened)] == 2)
        #expect(CrowdStory(.retry).acceptancesPerToken(hasRetryWindow: true) == 2)
        #expect(CrowdStory(.doubleTap).acceptancesPerToken(hasRetryWindow: true) == 1)
    }
}
