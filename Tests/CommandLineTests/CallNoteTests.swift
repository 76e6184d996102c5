import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("What media-token inspect notes on the calls of a capture")
struct CallNoteTests {
    private let keys = KeyPair()

    private func inspect(_ entries: [Entry], _ options: String...) throws -> Program.Outcome {
        let file = try keys.directory.write(try Entry.har(entries), to: "capture.har")
        return try Program.mediaToken.run(["inspect", "--key", keys.open] + options + ["@" + file])
    }

    private func play(_ token: String, at second: Int, _ status: Int = 200) -> Entry {
        Entry("https://tv.example/play?token=\(Fixtures.percentEncoded(token))", at: second, status: status)
    }

    @Test("A preflight is left out before its token is examined")
    func preflight() throws {
        let token = try Mint.token()
        var preflight = play(token, at: 5000)
        preflight.method = "OPTIONS"
        let outcome = try inspect([preflight, play(token, at: 2)], "--json")
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""found":1"#) && !outcome.output.contains("EXPIRED"), "\(outcome.output)")
    }

    @Test("A call that was blocked has a row that says so, and no use of its token")
    func unanswered() throws {
        let token = try Mint.token()
        var blocked = play(token, at: 2, 0)
        let text = try inspect([blocked]).output
        #expect(text.contains("\n      no answer arrived: the call was blocked or ended early\n"), "\(text)")
        blocked.failure = "net::ERR_BLOCKED_BY_CLIENT"
        let outcome = try inspect([blocked, play(token, at: 3), play(token, at: 4)])
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("      ") }.map { $0.dropFirst(6) }
        try #require(lines.count == 3, "\(outcome.output)")
        #expect(lines[0] == "no answer arrived: net::ERR_BLOCKED_BY_CLIENT")
        #expect(
            lines[1].hasPrefix("sent again: ") && lines[1].contains("in entry 1 before, which got no answer: a retry"))
        #expect(lines[2].hasPrefix("used twice: ") && lines[2].hasSuffix("in entry 2 before, which got 200"))
    }

    @Test("A second use is a retry if the first one was not decided", arguments: [504, 429, 308, 307, 403, 302])
    func retries(_ status: Int) throws {
        let token = try Mint.token()
        let text = try inspect([play(token, at: 2, status), play(token, at: 3)]).output
        let isDecided = status == 403 || status == 302
        #expect(text.contains("sent again: ") == !isDecided && text.contains("used twice: ") == isDecided)
        #expect(text.contains("was sent in entry 1 before, which got \(status)"), "\(text)")
    }

    @Test("A server whose clock is not that of the others is named, and the client's clock is not blamed")
    func serverClock() throws {
        func dated(_ entry: Entry, ahead seconds: Int) -> Entry {
            var entry = entry
            entry.answerHeaders["Date"] = Entry.date(entry.second + seconds)
            return entry
        }
        var authorize = Entry("https://api.example/api/v2/MML/decisions/authorize/TempPass", at: 1)
        let token = try Mint.token()
        authorize.came = #"{"decisions":[{"token":{"serializedToken":"\#(Fixtures.base64(token))"}}]}"#
        for (seconds, words) in [(1200, "19 min 59 s ahead of"), (-1200, "20 min behind")] {
            let outcome = try inspect([
                dated(authorize, ahead: 0), dated(play(token, at: 3), ahead: seconds),
                dated(play(try Mint.token { $0.mvpd = "Cox" }, at: 4), ahead: seconds),
            ])
            let clocks = outcome.output.split(separator: "\n").filter { $0.contains("clock") }
            #expect(clocks == ["      clocks apart: the clock of tv.example is \(words) that of api.example"])
            #expect(!outcome.output.contains("EXPIRED") && outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("verify --find takes a request that no backend decided for no use")
    func undecided() throws {
        let token = try Mint.token()
        for (statuses, codes) in [
            ([503, 429, 308, 200], "VALID_TOKEN\n"), ([302, 200], "VALID_TOKEN\nTOKEN_ALREADY_USED\n"),
        ] {
            let har = try Entry.har(statuses.indices.map { play(token, at: 2 + $0, statuses[$0]) })
            let outcome = try Program.mediaToken.run(
                [
                    "verify", "--find", "--key", keys.open, "--replays", "memory", "--status", "--requestor", "MML",
                    "--resource", "TNT", "--at", "1700000010",
                ], input: Data(har.utf8))
            #expect(outcome.output == codes, "\(statuses): \(outcome)")
        }
    }

    @Test("A token for Adobe Pass that a backend is sent is of the wrong kind, unless a media token is there too")
    func wrongKind() throws {
        let token = Fixtures.percentEncoded(try Mint.token { $0.kind = .authorization })
        let media = Fixtures.percentEncoded(try Mint.token())
        func lines(_ url: String) throws -> String { try inspect([Entry(url)]).output }
        let wrong =
            "wrong kind: this is an AuthZ token; a backend takes a short media token: take the media token from decisions/authorize"
        #expect(try lines("https://tv.example/play?token=\(token)").contains(wrong))
        #expect(try !lines("https://tv.example/play?token=\(token)&media=\(media)").contains("wrong kind"))
        #expect(try !lines("https://sp.auth.adobe.com/adobe-services/shortAuthorize?t=\(token)").contains("wrong kind"))
    }

    @Test("A failed status has a note, unless an error explains it")
    func failures() throws {
        let token = try Mint.token()
        func lines(_ status: Int, came: String = "{}", _ headers: [String: String] = [:]) throws -> String {
            var entry = play(token, at: 2, status)
            (entry.came, entry.answerHeaders) = (came, headers)
            return try inspect([entry]).output
        }
        #expect(try lines(500).contains("\n      failed: answered 500\n"))
        #expect(try !lines(399).contains("failed:"))
        let denied = try lines(403, came: #"{"status":403,"code":"denied","action":"none"}"#)
        #expect(denied.contains("denied") && !denied.contains("answered"), "\(denied)")
        #expect(try lines(429).contains("throttled: try again later\n"))
        #expect(try lines(429, ["Retry-After": "30"]).contains("throttled: try again after 30 s\n"))
        let date = "Tue, 14 Nov 2023 22:14:00 GMT"
        #expect(try lines(429, ["Retry-After": date]).contains("throttled: try again after \(date)\n"))
    }

    @Test("A grant that had expired when it was sent is named, once for the URL and the list of its parameters")
    func expiredGrants() throws {
        func lines(expires: Int) throws -> String {
            let grant = "exp=\(expires)~acl=/*~hmac=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
            var entry = Entry("https://cdn.example/1.m3u8?hdnts=\(grant)", at: 100)
            entry.query = ["hdnts": grant]
            return try inspect([entry]).output
        }
        let late = try lines(expires: 1_700_000_040)
        let count = late.split(separator: "\n").count { $0.hasPrefix("      grant expired: the Akamai") }
        #expect(count == 1 && late.contains(" expired 1 min before\n"), "\(late)")
        #expect(try !lines(expires: 1_700_000_101).contains("grant expired"))
    }

    @Test("What the request and the document around a token say alike is compared once")
    func alike() throws {
        var entry = Entry("https://tv.example/play")
        entry.sent = #"{"mediaToken":"\#(Fixtures.base64(try Mint.token()))","resource":"TBS"}"#
        let text = try inspect([entry]).output
        #expect(text.contains("other resource: the token has 'TNT', the request 'TBS'"), "\(text)")
        #expect(!text.contains("the document around it"), "\(text)")
    }
}
