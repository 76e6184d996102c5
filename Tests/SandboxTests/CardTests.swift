import Sandbox
import Testing

@Suite("test cards of the sandbox")
struct CardTests {
    @Test("the end of an ID chooses a card, and nothing else does")
    func choice() {
        #expect(TestCard.chosen(by: "TNT:denied")?.name == "denied")
        #expect(TestCard.chosen(by: "denied")?.name == "denied")
        #expect(TestCard.chosen(by: "urn:x:TNT:other-key")?.name == "other-key")
        for id in ["", ":", "TNT", "TNT-denied", "denied:TNT", "TNT:Denied", "TNT:denied ", "TNT:denied\u{301}"] {
            #expect(TestCard.chosen(by: id) == nil, "\(id)")
        }
    }
}
