import Sandbox
import Testing

@Suite("the tally of a crowd")
struct CrowdTallyTests {
    private static let expected = CrowdStory(.doubleTap).expectation(hasRetryWindow: false, segments: nil)

    /// The tally of one double tap, to which `plays` happened.
    private func tally(_ plays: [String], acceptances: [Int] = [1]) -> CrowdTally {
        var (tally, seen) = (CrowdTally(), CrowdOutcome())
        seen.note(.login, "logged in")
        seen.note(.login, "logged out")
        for code in plays { seen.note(.play, code) }
        let party = CrowdParty(first: 3, CrowdStory(.doubleTap))
        tally.count(party, expected: Self.expected, seen: seen, acceptances: acceptances, mostAcceptances: 1)
        return tally
    }

    @Test("what happens as expected is no disagreement")
    func agreement() {
        let tally = tally(["TOKEN_ALREADY_USED", "VALID_TOKEN"])
        #expect(tally.isAsExpected && tally.differences.isEmpty && tally.devices == 1)
        #expect(tally.rows.allSatisfy { $0.expected == 1 && $0.seen == 1 } && tally.rows.count == 4)
    }

    @Test(
        "a second acceptance, a missing answer, another code and one too many disagree",
        arguments: [
            (["VALID_TOKEN", "VALID_TOKEN"], "play VALID_TOKEN × 1 instead of play TOKEN_ALREADY_USED × 1"),
            (["VALID_TOKEN"], "play TOKEN_ALREADY_USED × 1 did not happen"),
            ([], "play TOKEN_ALREADY_USED × 1, play VALID_TOKEN × 1 did not happen"),
            (["VALID_TOKEN", "TOKEN_EXPIRED"], "play TOKEN_EXPIRED × 1 instead of play TOKEN_ALREADY_USED × 1"),
            (["VALID_TOKEN", "TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"], "play TOKEN_ALREADY_USED × 1 happened too"),
            (
                ["TOKEN_ALREADY_USED", "TOKEN_ALREADY_USED"],
                "play TOKEN_ALREADY_USED × 1 instead of play VALID_TOKEN × 1"
            ),
        ])
    func disagreement(plays: [String], text: String) throws {
        let tally = tally(plays)
        #expect(!tally.isAsExpected && tally.disagreeing == 1)
        let kind = try #require(tally.differences.first)
        #expect(kind.device == 3 && kind.parties == 1 && kind.difference.text == text)
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
        #expect(sum.disagreeing == 2 && sum.differences.count == 2 && sum.devices == 2)
    }

    @Test("parties that are wrong in the same way are one kind, those of most parties first")
    func kinds() {
        var sum = tally(["TOKEN_EXPIRED"])
        for _ in 0..<2 { sum.add(tally(["VALID_TOKEN"])) }
        #expect(sum.differences.map(\.parties) == [2, 1])
        #expect(sum.differences[0].difference.text == "play TOKEN_ALREADY_USED × 1 did not happen")
    }

    @Test("of a stolen token, the rows too tell who is accepted")
    func theft() {
        var (tally, seen) = (CrowdTally(), CrowdOutcome())
        for code in ["logged in", "logged out"] { seen.note(.login, code) }
        for code in ["VALID_TOKEN (owner)", "TOKEN_ALREADY_USED (thief)"] { seen.note(.play, code) }
        let party = CrowdParty(first: 0, CrowdStory(.stolenBefore, devices: 2))
        let expected = party.story.expectation(hasRetryWindow: false, segments: nil)
        tally.count(party, expected: expected, seen: seen, acceptances: [1], mostAcceptances: 1)
        #expect(tally.disagreeing == 1)
        #expect(tally.rows.count { $0.expected != $0.seen } == 4)
    }

    @Test(
        "what must happen to each kind of story",
        arguments: [
            (CrowdStory(.plain), "login logged in × 1, login logged out × 1, play VALID_TOKEN × 1"),
            (
                CrowdStory(.wrongPassword),
                "login logged in × 1, login logged out × 1, login wrong password × 1, play VALID_TOKEN × 1"
            ),
            (
                CrowdStory(.shared, devices: 4),
                "login logged in × 1, login logged out × 1, play TOKEN_ALREADY_USED × 3, play VALID_TOKEN × 1"
            ),
            (
                CrowdStory(.retry),
                "login logged in × 1, login logged out × 1, play TOKEN_ALREADY_USED × 1, play VALID_TOKEN × 1"
            ),
            (
                CrowdStory(.stolenAfter, devices: 2),
                "login logged in × 1, login logged out × 1, play TOKEN_ALREADY_USED (thief) × 1, play VALID_TOKEN (owner) × 1"
            ),
            (
                CrowdStory(.appSwitch),
                "login logged in × 1, login logged out × 1, login logged out by another app × 1, play VALID_TOKEN × 2"
            ),
            (CrowdStory(.otherTeam), "login logged in × 2, login logged out × 2, play VALID_TOKEN × 2"),
            (
                CrowdStory(.wrongRoute),
                "login logged in × 1, login logged out × 1, play ROUTE_UNKNOWN × 1, play VALID_TOKEN × 1"
            ),
            (
                CrowdStory(.card, card: "denied"),
                "decision authorization_denied_by_mvpd × 1, login logged in × 1, login logged out × 1"
            ),
            (
                CrowdStory(.card, card: "expired"),
                "login logged in × 1, login logged out × 1, play TOKEN_EXPIRED × 1"
            ),
        ])
    func expectation(story: CrowdStory, text: String) {
        #expect(story.expectation(hasRetryWindow: false, segments: nil).text == text)
    }
}
