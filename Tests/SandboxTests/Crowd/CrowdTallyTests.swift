import Sandbox
import Testing

@Suite("the tally of a crowd")
struct CrowdTallyTests {
    private static let expected = CrowdStory(.doubleTap).expectation(hasRetryWindow: false, segments: nil)

    /// The tally of one double tap, to which `plays` happened.
    private func tally(_ plays: [String], acceptances: [Int] = [1]) -> CrowdTally {
        var (tally, seen) = (CrowdTally(), CrowdOutcome())
        seen.note(.login, "logged in")
        for code in plays { seen.note(.play, code) }
        let party = CrowdParty(first: 3, CrowdStory(.doubleTap))
        tally.count(party, expected: Self.expected, seen: seen, acceptances: acceptances, mostAcceptances: 1)
        return tally
    }

    @Test("what happens as expected is no disagreement, in whatever order")
    func agreement() {
        let tally = tally(["TOKEN_ALREADY_USED", "VALID_TOKEN"])
        #expect(tally.isAsExpected && tally.examples.isEmpty && tally.devices == 1)
        #expect(tally.rows.allSatisfy { $0.expected == 1 && $0.seen == 1 } && tally.rows.count == 3)
    }

    @Test(
        "a second acceptance, a missing answer, another code and one too many disagree",
        arguments: [
            ["VALID_TOKEN", "VALID_TOKEN"], ["VALID_TOKEN"], [], ["VALID_TOKEN", "TOKEN_EXPIRED"],
            ["VALID_TOKEN", "TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"], ["TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"],
        ])
    func disagreement(plays: [String]) throws {
        let tally = tally(plays)
        #expect(!tally.isAsExpected && tally.disagreeing == 1)
        let example = try #require(tally.examples.first)
        #expect(example.device == 3 && example.seen != example.expected)
        #expect(example.expected.text == "login logged in × 1, play TOKEN_ALREADY_USED × 1, play VALID_TOKEN × 1")
    }

    @Test("a token that is accepted twice is an alarm of its own")
    func acceptedTwice() {
        let tally = tally(["VALID_TOKEN", "TOKEN_ALREADY_USED"], acceptances: [2])
        #expect(tally.disagreeing == 0 && tally.acceptedTooOften == 1 && !tally.isAsExpected)
    }

    @Test("two parties that are wrong in opposite ways disagree, though their sums agree")
    func sums() {
        var sum = tally(["VALID_TOKEN", "VALID_TOKEN"])
        sum.add(tally(["TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"]))
        #expect(sum.rows.allSatisfy { $0.expected == $0.seen })
        #expect(sum.disagreeing == 2 && sum.examples.count == 2 && sum.devices == 2)
    }

    @Test("of a stolen token, it matters who is accepted")
    func theft() {
        let (before, after) = (CrowdStory(.stolenBefore), CrowdStory(.stolenAfter))
        let outcomes = [before, after].map { $0.expectation(hasRetryWindow: false, segments: nil) }
        #expect(outcomes[0] != outcomes[1])
        #expect(outcomes[0].text.contains("VALID_TOKEN (thief)") && outcomes[1].text.contains("VALID_TOKEN (owner)"))
        #expect(before.posts.map { $0.map(\.role) } == [[.thief], [.owner]])
    }
}
