import Foundation
import HTTP
import MediaToken
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Explanations")
struct ExplanationTests {
    private struct Explanation: Decodable {
        let code: String
        let number: Int?
        let check: String?
        let expires: Int?
        let issueTime: String?
        let fields: [String: String]
    }

    private let verifier: MediaTokenVerifier

    init() throws { verifier = try Mint.verifier() }

    private func explain(_ token: String, _ query: String = "") throws -> Explanation {
        let request = HTTPRequest(
            method: "POST", path: "/v1/explain", query: query, headers: [("Content-Type", "text/plain")],
            body: Array(token.utf8))
        let body = Gate().reply(to: request, by: verifier).answer.body
        return try JSONDecoder().decode(Explanation.self, from: Data(body))
    }

    @Test(
        "a token is compared with the requestor and the resource that the caller names, and with nothing if it names none"
    )
    func comparisons() throws {
        let token = try Mint.token()
        for (query, code, number) in [
            ("", "VERIFIED", nil), ("requestor=MML", "VERIFIED", nil), ("requestor=MML&resource=TNT", "VERIFIED", nil),
            ("requestor=OTHER", "INVALID_REQUESTOR_ID", 5), ("resource=OTHER", "INVALID_RESOURCE_ID", 6),
        ] as [(String, String, Int?)] {
            let explanation = try explain(token, query)
            #expect(explanation.code == code && explanation.number == number, "\(query): \(explanation)")
        }
    }

    @Test("the times of a token that nobody has signed are fields of it and no more")
    func unsigned() throws {
        let token = try Mint.token()
        let forged = try explain(token.replacing("TempPass", with: "TempPast"))
        #expect(forged.check == "signature" && forged.number != nil)
        #expect(forged.expires == nil && forged.issueTime == nil && forged.fields["mvpdId"] == "TempPast")
        let signed = try explain(token)
        #expect(signed.expires == 1_700_000_420 && signed.issueTime != nil)
    }

    @Test("of several fields of one name each is shown")
    func repeated() throws {
        let payload = Mint.payload().replacing(
            "<mvpdId>", with: "<note>first</note><note>second</note><mvpdId>")
        let fields = try explain(try Mint.signed(payload)).fields
        #expect(fields["note[1]"] == "first" && fields["note[2]"] == "second" && fields["mvpdId"] == "TempPass")
    }
}
