import Basics
import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing
import TokenCrypto

@Suite("media-token inspect and verify of captures")
struct CaptureTests {
    private let keys = KeyPair()

    private func inspect(_ har: String, _ options: String...) throws -> Program.Outcome {
        let file = try keys.directory.write(har, to: "capture.har")
        return try Program.mediaToken.run(["inspect", "--key", keys.open] + options + ["@" + file])
    }

    private func notes(_ scenario: Scenario) throws -> Set<String> {
        let outcome = try inspect(scenario.har(), "--json")
        struct Line: Decodable {
            struct Note: Decodable { let kind: String }
            let notes: [Note]?
        }
        let lines = try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        #expect(lines.count { $0.notes != nil } >= 2 && outcome.errors.isEmpty, "\(outcome)")
        return Set(lines.flatMap { $0.notes ?? [] }.map(\.kind))
    }

    @Test("A capture without a fault has no note")
    func sound() throws {
        #expect(try notes(Scenario(faults: [])) == [])
    }

    @Test("Each fault of a capture is named, alone and with another one", arguments: Fault.pairs)
    func faults(_ one: Fault, _ other: Fault) throws {
        #expect(try notes(Scenario(faults: [one, other])) == one.notes.union(other.notes))
    }

    @Test("What is known of the client's clock holds for later calls whose answer has no date")
    func undatedPlays() throws {
        var scenario = Scenario(faults: [.clocks, .expired])
        scenario.playsHaveDate = false
        #expect(try notes(scenario) == ["clocks apart", "expired in between"])
        let outcome = try inspect(scenario.har())
        let plays = outcome.output.split(separator: "\n").filter { $0.contains("  play  ") }
        #expect(plays.map { $0.hasSuffix("TOKEN_EXPIRED") } == [false, true], "\(outcome.output)")
        #expect(plays.last?.contains("2023-11-14 22:23:20") == true, "\(outcome.output)")
    }

    @Test("What browsers and other services put into a capture is no fault")
    func habits() throws {
        let token = try Mint.token()
        let play = "https://tv.example/play?token=\(Fixtures.percentEncoded(token))"
        let authorize = "https://api.example/api/v2/MML/decisions/authorize/TempPass"
        let decision =
            #"{"decisions":[{"resource":"TNT","authorized":true,"token":{"serializedToken":"\#(Fixtures.base64(token))"}}]}"#
        func entry(
            _ url: String, _ method: String = "POST", at second: Int = 2, _ change: (inout Entry) -> Void = { _ in }
        ) -> Entry {
            var entry = Entry(url, method, at: second)
            change(&entry)
            return entry
        }
        let entries = [
            entry("https://api.example/api/v2/authenticate/M%4DL/CODE", "GET"),
            entry(authorize) { ($0.sent, $0.came) = (#"{"resources":["TBS","TNT"]}"#, decision) },
            entry(play, "OPTIONS"),
            // The token is in the URL and in the body, there with the other form of its second tag.
            entry(play) { $0.sent = token.replacing("=<signatureInfo>", with: "=</signatureInfo>") },
            entry("https://tv.example/1.m3u8", "GET") { $0.headers["Referer"] = play },
            entry("https://a.example/") {
                $0.sent = #"{"action":"view","status":"ok","code":"DE"}"#
                $0.came = #"{"code":200,"status":"ok"}"#
            },
            entry("https://b.example/") { $0.came = #"{"action":"none","code":"613e99bf2db476308f802091f8462819"}"# },
            entry(authorize, "GET") { $0.answerHeaders = ["Date": Entry.date(-7200), "Age": "7200"] },
            entry(authorize, "GET", at: -60) { ($0.answerHeaders["Date"], $0.lasting) = (Entry.date(0), 59_000) },
        ]
        let stack = Array(repeating: ["a": 1, "b": 2, "c": 3], count: 2000)
        let har = try Entry.har(entries, with: ["_initiator": ["stack": stack]])
        let outcome = try inspect(har)
        #expect(outcome.status == 0)
        #expect(!outcome.output.split(separator: "\n").contains { $0.hasPrefix("      ") }, "\(outcome.output)")
        #expect(outcome.output.contains("found 3 media tokens; 0 failed"), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count { $0.contains("MML") } == 5, "\(outcome.output)")
        let missing = try inspect(har, "--only", "99")
        #expect(missing.status == 2 && missing.errors.contains("there is no row 99"), "\(missing.errors)")
    }

    @Test("The table has a row for each call, the verdict at its time, and the error in place of a token")
    func table() throws {
        var scenario = Scenario(faults: [.expired])
        scenario.denial = "authorization_denied_by_mvpd"
        let outcome = try inspect(scenario.har())
        #expect(outcome.status == 1)
        let rows = outcome.output.split(separator: "\n").filter { $0.first?.isNumber == true }
        #expect(
            rows.map { $0.split(separator: " ").last ?? "" } == [
                "VERIFIED", "VERIFIED", "VERIFIED", "TOKEN_EXPIRED", "D",
            ])
        #expect(
            outcome.output.contains(
                "authorization_denied_by_mvpd: TNT; action none; not in your package\n      → the viewer is not authorized: "
            ),
            "\(outcome.output)")
        #expect(outcome.output.contains("found 4 media tokens, 1 error; 2 failed"), "\(outcome.output)")

        let only = try inspect(scenario.har(), "--only", "2")
        #expect(
            only.output.contains("found   HAR › entry 2 › request.postData.text › mediaToken › clear"), "\(only.output)"
        )
    }

    @Test(
        "An error has one line that says what to do: by its action, else as verify says it of a denial",
        arguments: [
            (
                #"{"decisions":[{"authorized":false,"error":{"code":"too_long","action":"none"}}]}"#,
                "not authorized: show"
            ),
            (#"{"decisions":[{"authorized":false,"error":{"code":"a_fault","action":"retry"}}]}"#, "try again later"),
            (#"{"decisions":[{"resource":"TNT","authorized":false}]}"#, "the viewer is not authorized: show Adobe's"),
            (#"{"status":401,"code":"profile_missing","action":"authentication"}"#, "the viewer must log in again"),
            (#"{"status":403,"code":"authorization_denied_by_mvpd","action":"none"}"#, "not authorized: show Adobe's"),
            (#"{"status":400,"code":"invalid_requestor","action":"none"}"#, "a retry will not help: compare the"),
            ("<error><status>403</status><message>User not authorized</message></error>", "is not authorized: show"),
            (#"{"status":403,"code":"denied","action":"\u001b[2J"}"#, nil),
        ] as [(String, String?)])
    func advice(answer: String, advice: String?) throws {
        let shown = try Program.mediaToken.run(["inspect"], input: Data(answer.utf8)).output
        let json = try Program.mediaToken.run(["inspect", "--json"], input: Data(answer.utf8)).output
        #expect(!shown.contains("\u{1B}") && shown.contains("               → ") == (advice != nil), "\(shown)")
        guard let advice else { return }
        #expect(shown.contains(advice) && json.contains("\"kind\":\"error\""), "\(shown)")
        #expect(json.firstMatch(of: /"advice":"[^"]*"/)?.output.contains(advice) == true, "\(json)")
    }

    @Test("A HAR file that was cut, or has nothing to look at, is called that")
    func incomplete() throws {
        let har = try Scenario(faults: []).har()
        func inspect(_ text: String) throws -> Program.Outcome {
            try Program.mediaToken.run(["inspect"], input: Data(text.utf8))
        }
        let cut = try inspect(String(har.prefix(har.utf8.count - 300)))
        #expect(cut.errors.contains("the HAR file ends within entry ") && cut.status == 2, "\(cut)")
        #expect(cut.output.contains("authorize"))
        let other = try inspect(
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a.example/x"},"response":{"status":200}}]}}"#
        )
        #expect(
            other.errors.contains("none of the 1 call goes to Adobe Pass or has a token")
                && other.status == 2,
            "\(other)")
    }

    @Test("verify --find decides about each token once, however often a log mentions it, and rejects a denial")
    func find() throws {
        let token = try Mint.token()
        let names = ["--requestor", "MML", "--resource", "TNT", "--at", "1700000010"]
        func verify(_ text: String, _ more: String...) throws -> Program.Outcome {
            try Program.mediaToken.run(["verify", "--find", "--key", keys.open] + names + more, input: Data(text.utf8))
        }
        let log = "GET /?token=\(Fixtures.percentEncoded(token)) 1\nX-Media-Token: \(Fixtures.base64(token))\n"
        let outcome = try verify(log, "--replays", "memory", "--status")
        #expect(outcome.output == "VALID_TOKEN\n" && outcome.status == 0, "\(outcome.errors)")
        let shown = try verify(log)
        #expect(
            shown.output.hasPrefix("found   line 1 › percent-encoding › token › clear\nVALID_TOKEN\n"),
            "\(shown.output)")
        #expect(shown.output.contains("the same token is also on line 2\n"), "\(shown.output)")
        let denial = #"{"decisions":[{"authorized":false,"error":{"code":"denied","action":"none"}}]}"#
        let denied = try verify("HTTP/1.1 200 OK\n\n" + denial, "--replays", "memory", "--status")
        #expect(denied.output == "INVALID_TOKEN_FORMAT\n" && denied.errors.contains("denied"), "\(denied.errors)")
        let forged = try verify(token.replacing("TNT", with: "TBS"), "--replays", "memory", "--status")
        #expect(forged.output == "INVALID_SIGNATURE\n")
        let jwt = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.AAAA"
        for text in [jwt, "hdnts=exp=1795353906~acl=/*~hmac=0123456789abcdef"] {
            let other = try verify(text, "--replays", "memory", "--status")
            #expect(other.output == "INVALID_TOKEN_FORMAT\n" && other.status == 1, "\(text) is no token")
        }
        #expect(try verify("nothing", "--replays", "memory", "--status").output == "INVALID_TOKEN_FORMAT\n")
        for (faults, codes) in [
            ([], "VALID_TOKEN\nVALID_TOKEN\n"), ([.usedTwice], "VALID_TOKEN\nVALID_TOKEN\nTOKEN_ALREADY_USED\n"),
        ] as [(Set<Fault>, String)] {
            let file = try keys.directory.write(try Scenario(faults: faults).har(), to: "capture.har")
            let har = try Program.mediaToken.run(
                ["verify", "--find", "--key", keys.open, "--replays", "memory", "--status", "@" + file]
                    + names.dropLast() + [
                        "1700000061"
                    ])
            #expect(har.output == codes, "a token that was received and sent counts once: \(har)")
        }
    }

    @Test("A token without its last tag is called cut before anything is said of it")
    func cut() throws {
        let token = try Mint.token()
        func inspect(_ text: some StringProtocol, _ options: String...) throws -> String {
            try Program.mediaToken.run(["inspect", "--key", keys.open] + options, input: Data(text.utf8)).output
        }
        let end = try #require(token.range(of: "TNT")).upperBound
        let count = token[..<end].utf8.count
        let cut = "it ends after \(count) bytes, at 'resourceID'; its last tag is missing"
        let shown = try inspect(token[..<end])
        let advice = "a cut token cannot be verified: get the whole of it"
        #expect(shown == "cut     \(cut)\n        \(advice)\n")
        #expect(try inspect(Fixtures.base64(String(token[..<end]))).contains("clear\ncut     \(cut)\n"))
        let json = try inspect(token[..<end], "--json")
        #expect(json.contains("\"cut\":\"\(cut)\"") && json.contains("\"advice\":\"\(advice)\""), "\(json)")
        #expect(json.contains("\"code\":\"INVALID_SIGNATURE\"") && !json.contains("load the key"), "\(json)")
        let asked = ["--key", keys.open, "--requestor", "MML", "--resource", "TNT"]
        let cutText = Data(token[..<end].utf8)
        for arguments in [["inspect"], ["inspect"] + asked, ["verify", "--find"] + asked] {
            let outcome = try Program.mediaToken.run(arguments, input: cutText)
            #expect(outcome.status == 1, "\(arguments)")
            let verdict = arguments[0] == "verify" ? "INVALID_SIGNATURE\n" : ""
            #expect(outcome.output == "\(verdict)cut     \(cut)\n        \(advice)\n", "\(outcome.output)")
        }
        #expect(try inspect(token[..<end].dropLast(6)).contains(", at 'resource'; "))
        for whole in [token, "nothing"] { #expect(try !inspect(whole).contains("cut ")) }
    }

    @Test("The gate's strict reading is not changed by what a finder can read")
    func strict() throws {
        let token = try Mint.token()
        for text in ["\"\(token)\"", "token=\(token)", Fixtures.base64(Fixtures.base64(token))] {
            let outcome = try Program.mediaToken.run(
                ["verify", "--key", keys.open, "--any-resource", "--requestor", "MML", "--at", "1700000010"],
                input: Data(text.utf8))
            #expect(outcome.status == 1 && outcome.output.hasPrefix("INVALID_TOKEN_FORMAT"), "\(outcome.output)")
        }
    }
}

/// A fault of a capture, which a person would look for.
enum Fault: CaseIterable {
    case mvpd, device, requestor, expired, usedTwice, clocks, resource

    /// Each with itself and with each other.
    static let pairs = allCases.indices.flatMap { one in allCases[one...].map { (allCases[one], $0) } }

    /// The kinds of the notes that name it.
    var notes: Set<String> {
        switch self {
        case .mvpd: ["MVPD changed"]
        case .device: ["device changed"]
        case .requestor: ["requestor changed"]
        case .expired: ["expired in between"]
        case .usedTwice: ["used twice"]
        case .clocks: ["clocks apart"]
        case .resource: ["resource changed", "other resource"]
        }
    }
}

/// Two authorizations, each with a play of its token, as a browser writes them down; the second pair has the faults.
struct Scenario {
    let faults: Set<Fault>
    /// The code of the error that a third authorization gets; `nil` if there is none.
    var denial: String?
    var playsHaveDate = true

    init(faults: Set<Fault>) { self.faults = faults }

    func har() throws -> String {
        let first = try Mint.token()
        let requestor = faults.contains(.requestor) ? "NBC" : "MML"
        let mvpd = faults.contains(.mvpd) ? "Cox" : "TempPass"
        let device = faults.contains(.device) ? "D2" : "D1"
        let second = try Mint.token { recipe in
            recipe.issued = TokenDate(Timestamp(milliseconds: 1_700_000_060_000), offset: 0)
            recipe.requestor = requestor
            recipe.mvpd = mvpd
        }
        let late = faults.contains(.expired) ? 600 : 62
        let resource = faults.contains(.resource) ? "TBS" : "TNT"
        // A token that is used twice is the one of the second authorization, which is played two times.
        var calls = [
            authorize(first, "MML", "TempPass", "D1", at: 1), play(first, "MML", "TNT", at: 2),
            authorize(second, requestor, mvpd, device, at: 61), play(second, requestor, resource, at: late),
        ]
        if faults.contains(.usedTwice) { calls.append(play(second, requestor, resource, at: late + 1)) }
        if let denial {
            let error =
                #"{"decisions":[{"resource":"TNT","authorized":false,"error":{"code":"\#(denial)","action":"none","message":"not in your package"}}]}"#
            calls.append(call("https://api.example/api/v2/MML/decisions/authorize/D", "", error, "D1", at: late + 2))
        }
        return try Entry.har(calls)
    }

    private func authorize(
        _ token: String, _ requestor: String, _ mvpd: String, _ device: String, at second: Int
    ) -> Entry {
        let answer =
            #"{"decisions":[{"resource":"TNT","serviceProvider":"\#(requestor)","mvpd":"\#(mvpd)","authorized":true,"#
            + #""token":{"serializedToken":"\#(Fixtures.base64(token))"}}]}"#
        let url = "https://api.example/api/v2/\(requestor)/decisions/authorize/\(mvpd)"
        return call(url, #"{"resources":["TNT"]}"#, answer, device, at: second)
    }

    private func play(_ token: String, _ requestor: String, _ resource: String, at second: Int) -> Entry {
        let body = #"{"mediaToken":"\#(token)"}"#
        let url = "https://tv.example/v1/play?requestor=\(requestor)&resource=\(resource)"
        return call(url, body, "{}", nil, at: second, hasDate: playsHaveDate)
    }

    /// A call, whose client's clock is slow if that is a fault.
    private func call(
        _ url: String, _ body: String, _ answer: String, _ device: String?, at second: Int, hasDate: Bool = true
    ) -> Entry {
        var entry = Entry(url, at: second - (faults.contains(.clocks) ? 300 : 0))
        (entry.sent, entry.came, entry.lasting) = (body, answer, 0)
        entry.headers["AP-Device-Identifier"] = device.map { "fingerprint \($0)" }
        entry.answerHeaders["Date"] = hasDate ? Entry.date(second) : nil
        return entry
    }
}
