import MediaToken
import TestSupport
import Testing
import Timestamps
import TokenIssuer

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

    @Test(
        "passes over what XML does not count",
        arguments: [
            ("quote style", "version=\"2.0\"", "version='2.0'"),
            ("attribute order", "scheme=\"urn:v-chip\" lang=\"en\"", "lang=\"en\" scheme=\"urn:v-chip\""),
            ("CDATA for an escape", "A &amp; B", "<![CDATA[A & B]]>"),
            ("CDATA in two runs", "A &amp; B", "<![CDATA[A ]]>&amp;<![CDATA[ B]]>"),
            ("a numeric escape", "A &amp; B", "A &#38; B"),
            ("white space between elements", "<item>", "\n  <item>\n  "),
            ("white space inside of a tag", "</guid>", "</guid  >"),
        ])
    func equal(what: String, replaced: String, replacement: String) throws {
        let other = Self.mrss.replacing(replaced, with: replacement)
        #expect(other != Self.mrss)
        #expect(try code(other, .canonically([ResourceID(Self.mrss)])) == .validToken)
        #expect(try code(Self.mrss, .canonically([ResourceID(other)])) == .validToken)
        #expect(try code(other, .exactly(ResourceID(Self.mrss))) == .invalidResourceID)
        let token = try Mint.token { $0.resource = other }
        let exact = Expectation(requestor: "MML", resource: .exactly(ResourceID(Self.mrss)))
        let verdict = try Mint.verifier().verify(token, for: exact)
        #expect(verdict.message.contains("canonical comparison would match"))
        #expect(verdict.message.hasPrefix("only ") && verdict.message.contains(" differ; canonical"))
        guard case .rejected(let rejection) = verdict else { return }
        #expect(rejection.advice.contains("compare it canonically"))
    }

    @Test(
        "does not pass over what XML counts",
        arguments: [
            ("a text", ">tv-pg<", ">tv-14<"),
            ("an attribute", "urn:v-chip", "urn:mpaa"),
            ("white space in a text", "A &amp; B", "A  &amp; B"),
            ("white space that is all of a text", "<guid>1</guid>", "<guid> </guid>"),
            ("an element more", "<guid>1</guid>", "<guid>1</guid><guid>1</guid>"),
            ("a prefix", "media:rating", "rating"),
            ("a namespace", "search.yahoo.com/mrss/", "search.yahoo.com/mrss"),
            ("a comment", "<guid>1</guid>", "<guid>1<!-- --></guid>"),
            ("a processing instruction", "<guid>1</guid>", "<guid>1<?x?></guid>"),
            ("a DOCTYPE", "<rss", "<!DOCTYPE rss><rss"), ("white space before the document", "<rss", " <rss"),
        ])
    func different(what: String, replaced: String, replacement: String) throws {
        let other = Self.mrss.replacing(replaced, with: replacement)
        #expect(other != Self.mrss)
        #expect(try code(other, .canonically([ResourceID(Self.mrss)])) == .invalidResourceID)
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
