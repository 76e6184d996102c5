import Basics
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

/// What is equal in canonical form, and what is not, is in `identities.json`.
@Suite("Canonical comparison of resources")
struct CanonicalResourceTests {
    private static let mrss = """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>MML</title><item>\
        <title>A &amp; B</title><guid>1</guid><media:rating scheme="urn:v-chip" lang="en">tv-pg</media:rating>\
        </item></channel></rss>
        """

    private func code(_ signed: String, _ rule: ResourceRule) throws -> VerdictCode {
        let token = try Mint.token { $0.resource = signed }
        return try Mint.verifier().code(token, for: .init(requestor: "MML", resource: rule))
    }

    @Test("the rejection of a resource that differs only in what XML does not count says so")
    func advice() throws {
        let other = Self.mrss.replacing("version=\"2.0\"", with: "version='2.0'")
        #expect(try code(Self.mrss, .canonically([ResourceID(other)])) == .validToken)
        let exact = Expectation(requestor: "MML", resource: .exactly(ResourceID(Self.mrss)))
        let verdict = try Mint.verifier().verify(Mint.token { $0.resource = other }, for: exact)
        #expect(verdict.message.contains("canonical comparison would match"))
        #expect(verdict.message.hasPrefix("only ") && verdict.message.contains(" differ; canonical"))
        #expect(verdict.rejection?.advice.contains("compare it canonically") == true)
    }

    @Test("nested CDATA, as in real tokens, is read as what it stands for")
    func nestedCDATA() throws {
        let resource = "<rss><title><![CDATA[Tom & Jerry]]></title></rss>"
        for split in ["]]]]><![CDATA[>", "]]]]>><![CDATA["] {
            let field = "<![CDATA[" + resource.replacing("]]>", with: split) + "]]>"
            let payload = Mint.payload().replacing(">TNT<", with: ">\(field)<")
            let token = try Mint.signed(payload)
            let exact = Expectation(requestor: "MML", resource: resource)
            #expect(try Mint.verifier().code(token, for: exact) == .validToken, "\(split)")
            let canonical = ResourceRule.canonically(["<rss><title>Tom &amp; Jerry</title></rss>"])
            let canonically = Expectation(requestor: "MML", resource: canonical)
            #expect(try Mint.verifier().code(token, for: canonically) == .validToken, "\(split)")
        }
    }

    @Test("a resource made to be slow is refused, signed or not, in well under a second")
    func slowCanonicalForm() throws {
        func resource(_ declarations: Int) -> String {
            "<r" + (0..<declarations).map { " xmlns:a\($0)='urn:'" }.joined() + ">"
                + String(repeating: "<b/>", count: 250) + "</r>"
        }
        let slow = resource(500)
        let time = try Program.processorTime {
            #expect(try code(slow, .canonically(["<r/>"])) == .invalidResourceID)
            #expect(try code(resource(3000), .canonically(["<r/>"])) == .invalidTokenFormat)
            let forged = try Mint.token(key: TestKeys.stranger) { $0.resource = slow }
            #expect(try Mint.verifier().examine(RawToken(forged), for: Mint.expectation, at: Mint.now).key == nil)
        }
        // 3000 took nine seconds without limits; this is a fuse, not a benchmark.
        #expect(time < .seconds(5))
    }

    @Test("accents in a token or a time take not many times as long as letters")
    func accents() throws {
        func time(_ character: String) throws -> Duration {
            let text = String(repeating: character, count: 7000)
            let token = try Mint.token { $0.resource = text }
            let renamed = try Mint.token().replacing("resourceID>", with: "a\(text)>")
            let verifier = try Mint.verifier()
            return Program.processorTime {
                for token in [token, renamed] {
                    _ = verifier.examine(RawToken(token), for: Mint.expectation, at: Mint.now)
                }
                #expect(Timestamp(reading: text) == nil)
            }
        }
        let (letters, accents) = (try time("abcd"), try time("\u{301}\u{316}"))
        #expect(accents < letters * 8 + .milliseconds(20), "\(accents) and \(letters)")
    }
}
