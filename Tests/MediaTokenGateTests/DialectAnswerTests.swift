import Basics
import HTTP
import MediaToken
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Answers in a dialect")
struct DialectAnswerTests {
    private static func answer(_ status: Int, _ text: String, _ type: String) throws -> DialectAnswers.Answer {
        DialectAnswers.Answer(
            status, try AnswerTemplate(text, type: type, filling: Set(AnswerTemplate.Placeholder.allCases)))
    }

    /// A settled or decided answer as its status and body.
    private static func shown(_ reply: GateReply) -> String {
        "\(reply.answer.status) \(String(decoding: reply.answer.body, as: UTF8.self))"
    }

    @Test("answers that differ in their values at most look alike, however they are written")
    func looksAlike() throws {
        func alike(_ one: String, _ other: String, _ type: String = "application/json") throws -> Bool {
            try Self.answer(200, one, type).looksLike(Self.answer(200, other, type))
        }
        #expect(try alike(#"{"token": "{token}"}"#, #"{"\u0074oken":"{detail}"}"#))
        #expect(try alike(#"{"a":"1","token":"{token}"}"#, #"{"token":"{detail}", "a":"\u0031"}"#))
        #expect(try alike(#"{"until": {expires}, "a": "{token}"}"#, #"{"a": "{url}", "until": {expires}}"#))
        #expect(try alike("<a>{token}</a>", "<a> {detail} </a>", "application/xml"))
        #expect(try !alike(#"{"token": "{token}"}"#, #"{"error": "{detail}"}"#))
        #expect(try !alike(#"{"ok": true, "token": "{token}"}"#, #"{"ok": false, "token": "{detail}"}"#))
        #expect(try !alike(#"{"a": [1, 2]}"#, #"{"a": [2, 1]}"#))
    }

    @Test(
        "a failing store is answered as undecided, a rejection and a misunderstanding as rejected, each with its code")
    func chooses() throws {
        let answers = DialectAnswers(
            accepted: try Self.answer(200, "{token}", "text/plain"),
            rejected: try Self.answer(200, "no {code}: {detail}", "text/plain"),
            undecided: try Self.answer(503, "later {code}", "text/plain"))
        let format = AnswerFormat.dialect(answers)
        #expect(Self.shown(format.undecided("down")) == "503 later ERROR_UNKNOWN")
        #expect(Self.shown(answers.refuse(.invalid("two tokens"))) == "200 no REQUEST_INVALID: two tokens")
        let rejected = try Mint.verifier().verify(RawToken("junk"), for: Mint.expectation, at: Mint.now)
        guard case .rejected(let rejection) = rejected else { throw Program.Failure(description: "accepted") }
        let reply = format.reject(rejection, at: Mint.now)
        #expect(Self.shown(reply).hasPrefix("200 no INVALID_TOKEN_FORMAT: "))
        let fields = reply.answer.headers.map { "\($0.name): \($0.value)" }
        for field in [
            "X-Media-Token-Code: INVALID_TOKEN_FORMAT", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
            "Content-Type: text/plain",
        ] {
            #expect(fields.contains(field), "\(fields)")
        }
    }

    @Test("each value is escaped for its media type, and a value that looks like a placeholder stands for itself")
    func escapes() throws {
        let hostile = "\u{301}\"\u{301}<&>'\\{code}\n\u{1}ä%+ "
        for (type, text, expected) in [
            ("application/json", "{\"d\": \"{detail}\"}", #"{"d": "\#u{301}\"\#u{301}<&>'\\{code}\n\u0001ä%+ "}"#),
            (
                "application/problem+json", "{\"d\": \"{detail}\"}",
                #"{"d": "\#u{301}\"\#u{301}<&>'\\{code}\n\u0001ä%+ "}"#
            ),
            (
                "text/xml; charset=utf-8", "<d>{detail}</d>",
                "<d>\u{301}&quot;\u{301}&lt;&amp;&gt;&#39;\\{code}\u{FFFD}\u{FFFD}ä%+ </d>"
            ),
            (
                "application/x-www-form-urlencoded", "d={detail}",
                "d=%CC%81%22%CC%81%3C%26%3E%27%5C%7Bcode%7D%0A%01%C3%A4%25%2B%20"
            ),
            ("text/plain", "{detail}", "\u{301}\"\u{301}<&>'\\{code}\\u{a}\\u{1}ä%+ "),
        ] {
            let body = try AnswerTemplate(text, type: type, filling: Set(AnswerTemplate.Placeholder.allCases)).body([
                .detail: hostile, .code: "CODE",
            ])
            #expect(body.elementsEqual(expected.utf8), "\(type): \(String(decoding: body, as: UTF8.self))")
        }
    }

    @Test("braces that hold no word stand for themselves, and a placeholder without a value is empty")
    func braces() throws {
        let template = try AnswerTemplate("{ {} {1} {url}{token} {", type: "text/plain", filling: [.url, .token])
        #expect(template.placeholders == [.url, .token])
        #expect(template.body([.url: "u"]).elementsEqual("{ {} {1} u {".utf8))
    }

    @Test("a retry is for what the first request wanted: not for another route, another folder, or one URL of it")
    func retries() throws {
        let directory = try TemporaryDirectory()
        let key = try directory.write(String(repeating: "0f", count: 32), to: "key")
        let grant = #"{"kind": "akamai", "key-file": "\#(key)", "retry-window": 60}"#
        func route(_ path: String) -> String {
            #"{"path": "\#(path)", "requestor": "MML", "resource": "TNT", "grant": \#(grant)}"#
        }
        func dialect(_ path: String, _ target: String) -> String {
            let answer = { (status: Int, body: String) in
                #"{"status": \#(status), "type": "text/plain", "body": "\#(body)"}"#
            }
            return """
                {"path": "\(path)", "token": "header:X-Token", \(target), "accepted": \(answer(200, "{token}")),
                 "rejected": \(answer(403, "{code}")), "undecided": \(answer(503, "{code}"))}
                """
        }
        let text = """
            {"keys": ["x"], "routes": [\(route("/a")), \(route("/b"))], "dialects": [
              \(dialect("/ofA", #""route": "/a""#)), \(dialect("/ofB", #""route": "/b""#)), \(dialect("/url", #""url": "query:url""#))]}
            """
        let gate = try Gate(reading: text)
        let wanted: [(path: String, query: String?)] = [
            ("/ofA", nil), ("/ofB", nil), ("/url", "url=/a/*"), ("/url", "url=/b/*"), ("/url", "url=/a/x/*"),
            ("/url", "url=/a/x"), ("/url", "url=https://one.example/a/*"), ("/url", "url=https://two.example/a/*"),
        ]
        func code(_ wanted: (path: String, query: String?), _ token: String, _ verifier: MediaTokenVerifier) -> String {
            let request = HTTPRequest(
                method: "POST", path: wanted.path, query: wanted.query,
                headers: [("X-Token", token), ("Idempotency-Key", "0123456789abcdef")])
            return gate.reply(to: request, by: verifier).code
        }
        for first in wanted {
            let (verifier, token) = (try Mint.verifier(), try Mint.token())
            #expect(code(first, token, verifier) == "VALID_TOKEN", "\(first)")
            for second in wanted {
                let expected = first == second ? "VALID_TOKEN" : "TOKEN_ALREADY_USED"
                #expect(code(second, token, verifier) == expected, "\(first), then \(second)")
            }
        }
    }
}
