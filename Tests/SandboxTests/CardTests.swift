import Basics
import Foundation
import MediaToken
import Sandbox
import TestSupport
import Testing
import TokenCrypto

@Suite("test cards of the sandbox")
struct CardTests {
    @Test("the end of an ID chooses a card, and nothing else does")
    func choice() {
        #expect(TestCard.chosen(by: "TNT:denied")?.name == "denied")
        #expect(TestCard.chosen(by: "denied")?.name == "denied")
        #expect(TestCard.chosen(by: "urn:x:TNT:other-key")?.name == "other-key")
        for id in [
            "", ":", "TNT", "TNT-denied", "denied:TNT", "TNT:Denied", "TNT:denied ", "TNT:denied:", "TNT:denied\u{301}",
        ] {
            #expect(TestCard.chosen(by: id) == nil, "\(id)")
        }
    }

    /// An MRSS resource, which every card that is about tokens can alter.
    static let resource = """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>MML</title><item><title>Kick-off</title></item></channel></rss>
        """

    @Test("each does what it says, chosen by the MVPD", arguments: TestCard.all.map(\.name))
    func effect(name: String) throws {
        let card = try #require(TestCard.chosen(by: name))
        let client = try SandboxClient()
        let mvpd = "Sandbox:\(name)"
        client.logIn(mvpd)
        let answer = client.authorize([Self.resource], mvpd: mvpd)
        switch card.effect {
        case .deny(let error):
            let item = try #require(answer.decisions.first)
            #expect(answer.status == 200 && item["authorized"] as? Bool == false)
            #expect((item["error"] as? [String: Any])?["code"] as? String == error.code)
        case .refuse(let error): #expect(answer.status == error.status && answer.code == error.code)
        case .disturb(.slow): #expect(answer.status == 200 && answer.delay == TestCard.slowMilliseconds)
        case .disturb(.unavailable): #expect(answer.status == 503)
        case .disturb(.throttled): #expect(answer.status == 429)
        case .disturb(.truncated):
            #expect(answer.status == 200 && answer.json.isEmpty && answer.text.contains("decisions"))
        case .token, .key, .forge: #expect(answer.status == 200)
        }
        let verdict = try answer.token.map { try client.verify($0, for: Self.resource).code }
        #expect(verdict == card.verdict)
    }

    @Test("a resource chooses too, before the MVPD, and each of several for itself")
    func resources() throws {
        let client = try SandboxClient()
        client.logIn("Sandbox:denied-hba")
        let decisions = client.authorize(["TNT:denied", "TNT:proxied", "TNT"], mvpd: "Sandbox:denied-hba").decisions
        let codes = decisions.map { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == ["authorization_denied_by_mvpd", nil, "authorization_denied_by_hba_policies"])
    }

    @Test("a resource's card takes precedence for the whole call too, and a disturbance comes once")
    func precedence() throws {
        let client = try SandboxClient()
        client.logIn("Sandbox:unavailable")
        #expect(client.authorize(["TNT:proxied"], mvpd: "Sandbox:unavailable").status == 200)
        #expect(client.authorize(["TNT:proxied", "TNT"], mvpd: "Sandbox:unavailable").status == 503)
        #expect(client.authorize(["TNT:too-many"], mvpd: "Sandbox:unavailable").code == "too_many_resources")
        let slow = client.authorize(["A:slow", "B:slow"], mvpd: "Sandbox:unavailable")
        #expect(slow.status == 200 && slow.delay == TestCard.slowMilliseconds)
    }

    @Test("the key that rotates is another in each minute, and the keystore has both")
    func rotation() throws {
        let client = try SandboxClient()
        client.logIn("Sandbox:rotating-key")
        let signers = try [0, 60_000].map { (later: Int64) in
            client.now = client.now.advanced(byMilliseconds: later)
            let token = try #require(client.authorize(mvpd: "Sandbox:rotating-key").token)
            if case .accepted(let verified) = try client.verify(token) { return verified.key } else { return "" }
        }
        #expect(Set(signers).count == 2 && signers.allSatisfy { $0.contains("SANDBOX") }, "\(signers)")
    }
}
