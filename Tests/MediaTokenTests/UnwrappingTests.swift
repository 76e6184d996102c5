import Basics
import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("Un-wrapping")
struct UnwrappingTests {
    /// A token whose signature has all that a careless encoder spoils.
    private static let clear: String = {
        while true {
            guard let token = try? Mint.token({ $0.sessionGUID = UUID().uuidString }) else { continue }
            if token.contains("+"), token.contains("/"), token.contains("==") { return token }
        }
    }()

    private static func wrapped(_ wrapping: TokenWrapping) -> String {
        wrapping.wrap(clear, Mint.recipe())
    }

    /// Beside those of `documents.json`, those that a token issuer writes, and those of encoders that leave out what
    /// they should escape.
    private static let forms: [(name: String, text: String)] = {
        let percent = wrapped(.percent)
        let escapedByAnApp = clear.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? ""
        return TokenWrapping.allCases.map { ($0.rawValue, wrapped($0)) } + [
            ("form with + and %20", percent.replacing("%20", with: "+", maxReplacements: 1)),
            ("escapes that leave + alone", escapedByAnApp),
            (
                "percent-encoded Base64 that leaves + alone",
                wrapped(.base64).replacing("=", with: "%3D").replacing("/", with: "%2F")
            ),
        ]
    }()

    @Test("every form of a token is the same token", arguments: forms.map(\.name))
    func sameToken(form: String) throws {
        let text = try #require(Self.forms.first { $0.name == form }?.text)
        let verifier = try Mint.verifier()
        let verdict = try verifier.verify(text)
        let verified = try #require(verdict.accepted, "\(verdict.message)")
        // Its identity for the replay store is that of the clear text.
        #expect(try verifier.code(Self.clear) == .tokenAlreadyUsed)
        let plain = try #require(try Mint.verifier().verify(Self.clear).accepted)
        #expect(verified.replayKey == plain.replayKey)
    }

    @Test("64 KiB are read, one byte more is not")
    func sizeLimit() throws {
        #expect(RawToken.sizeLimit == 65_536)
        let unpadded = try Mint.token { $0.sessionGUID = "x" }
        let room = RawToken.sizeLimit - unpadded.utf8.count
        for (excess, code) in [(0, VerdictCode.validToken), (1, .invalidTokenFormat)] {
            let token = try Mint.token { $0.sessionGUID = "x" + String(repeating: "y", count: room + excess) }
            #expect(token.utf8.count == RawToken.sizeLimit + excess)
            #expect(try Mint.verifier().code(token) == code)
        }
    }

    @Test(
        "a long token is read in every wrapping, wherever its beginning is cut for a first look",
        arguments: TokenWrapping.allCases, 0..<4)
    func longToken(wrapping: TokenWrapping, shift: Int) throws {
        var recipe = Mint.recipe { $0.resource = "A" + String(repeating: "<é>", count: 1200) }
        recipe.sessionGUID = String(repeating: "x", count: shift + 1)
        let token = wrapping.wrap(try Mint.signed(recipe.payload), recipe)
        let expectation = Expectation(requestor: recipe.requestor, resource: recipe.resource)
        #expect(try Mint.verifier().code(token, for: expectation) == .validToken)
    }

    @Test("an escape at the end of the first look is not cut, wherever it lies")
    func escapeAtEnd() throws {
        let recipe = Mint.recipe {
            $0.sessionGUID = "xxxxxx"
            $0.resource = "A" + String(repeating: "<é>", count: 1200)
        }
        let token = TokenWrapping.percent.wrap(try Mint.signed(recipe.payload), recipe)
        let expectation = Expectation(requestor: recipe.requestor, resource: recipe.resource)
        // There each three bytes are an escape. What follows an escaped letter lies two bytes farther behind.
        for count in 0...2 {
            let letters = String(repeating: "%78", count: count) + String(repeating: "x", count: 6 - count)
            let moved = token.replacing("%3Exxxxxx", with: "%3E" + letters)
            #expect(moved.utf8.count == token.utf8.count + 2 * count)
            #expect(try Mint.verifier().code(moved, for: expectation) == .validToken)
        }
    }

    @Test("the longest signature is read in every wrapping, also before a long payload, and one digit more is not")
    func longestSignature() throws {
        for (digits, code) in [(1368, .invalidSignature), (1369, .invalidTokenFormat)] as [(Int, VerdictCode)] {
            let head = "<signatureInfo>" + String(repeating: "A", count: digits) + "<signatureInfo>"
            let clear = head + "<a>\(String(repeating: "x", count: 8000))</a>"
            let encoded = Base64.encode(Array(clear.utf8))
            let escaped = try [clear, encoded].map {
                try #require($0.addingPercentEncoding(withAllowedCharacters: CharacterSet()))
            }
            for text in [clear, encoded] + escaped {
                let verdict = try Mint.verifier().verify(text)
                #expect(verdict.code == code, "\(verdict.message)")
                #expect(verdict.message.contains("no second <signatureInfo>") == (digits == 1369))
            }
        }
    }

    @Test("long junk is no token in any wrapping, and shows no more than that its signature has no end")
    func longJunk() throws {
        let junk = "<signatureInfo>" + String(repeating: "A", count: 20_000)
        for wrapped in [junk, Base64.encode(Array(junk.utf8)), "%3CsignatureInfo%3E" + junk.dropFirst(15)] {
            let rejection = try Mint.verifier().verify(wrapped)
            #expect(rejection.code == .invalidTokenFormat)
            #expect(rejection.message.contains("no second <signatureInfo>"))
        }
    }

    @Test("of several decisions with tokens, none is taken for any resource; one that is alone is")
    func decisions() throws {
        func decision(_ resource: String) throws -> String {
            let serialized = Base64.encode(Array(try Mint.token { $0.resource = resource }.utf8))
            return #"{"resource":"\#(resource)","authorized":true,"token":{"serializedToken":"\#(serialized)"}}"#
        }
        let any = Expectation(requestor: "MML", resource: .unsafeAnyResource)
        let both = #"{"decisions":[\#(try decision("TBS")),\#(try decision("TNT"))]}"#
        #expect(try Mint.verifier().code(both, for: any) == .invalidTokenFormat)
        let inspection = TokenInspector(keys: nil).inspect(RawToken(both), asking: .init())
        #expect(inspection.kind == nil && inspection.firstFailure?.detail.contains("2 decisions, 0 of them") == true)
        let unnamed = #"{"decisions":[{"authorized":true},\#(try decision("TNT"))]}"#
        #expect(try Mint.verifier().code(unnamed, for: any) == .validToken)
    }

    @Test("a decision among several is chosen by its bytes, also where resources are compared in canonical form")
    func decisionByBytes() throws {
        let (asked, alike) = ("<rss version='2.0'><channel/></rss>", "<rss version=\"2.0\"><channel></channel></rss>")
        func answer(_ resources: [String]) throws -> String {
            let decisions = try resources.map { resource in
                let serialized = Base64.encode(Array(try Mint.token { $0.resource = resource }.utf8))
                let quoted = resource.replacing("\"", with: "\\\"")
                return #"{"resource":"\#(quoted)","authorized":true,"token":{"serializedToken":"\#(serialized)"}}"#
            }
            return #"{"decisions":[\#(decisions.joined(separator: ","))]}"#
        }
        let rule = Expectation(requestor: "MML", resource: .canonically([ResourceID(asked)]))
        #expect(try Mint.verifier().code(answer([alike]), for: rule) == .validToken, "the only decision")
        #expect(try Mint.verifier().code(answer(["CNN", asked]), for: rule) == .validToken)
        #expect(try Mint.verifier().code(answer([alike, asked]), for: rule) == .validToken)
        let none = try Mint.verifier().verify(RawToken(try answer(["CNN", alike])), for: rule, at: Mint.now)
        #expect(none.code == .invalidTokenFormat)
        #expect(none.message.contains("2 decisions, 0 of them for the resource asked for, byte for byte"))
    }

    @Test("what a document says about its token decides nothing")
    func documentIsNotBelieved() throws {
        let serialized = Base64.encode(Array(try Mint.token { $0.resource = "OTHER" }.utf8))
        let document = """
            {"decisions":[{"resource":"TNT","authorized":true,"token":{"serializedToken":"\(serialized)"}}]}
            """
        #expect(try Mint.verifier().code(document) == .invalidResourceID)
    }
}
