import Basics
import Foundation
import HTTP
import MediaToken
import MediaTokenTesting
import PlaybackGrants
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("A gate that only reports")
struct ReportOnlyTests {
    private let directory: TemporaryDirectory
    private let issuer: TestTokenIssuer
    private let clock = TestClock()
    private let verifier: MediaTokenVerifier

    init() throws {
        (directory, issuer) = (try TemporaryDirectory(), try TestTokenIssuer())
        verifier = MediaTokenVerifier(
            keys: issuer.keys, policy: VerificationPolicy(allowedMVPDs: ["MML": ["TempPass"]]),
            replays: MemoryReplayStore.unfenced())
    }

    private func gate(_ more: String = "", route: String = "") throws -> Gate {
        let key = try directory.write(String(repeating: "0f", count: 32), to: "grant.key")
        let mml = #""requestor": "MML", "resource": "TNT""#
        return try Gate(
            reading: """
                {"keys": ["x"]\(more), "routes": [
                  {"path": "/live", \(mml)\(route), "grant": {"kind": "cat", "key-file": "\(key)"}},
                  {"path": "/vod", \(mml), "grant": {"kind": "akamai", "key-file": "\(key)"}},
                  {"path": "/trailers", "open": true}],
                 "dialects": [
                  {"path": "/old", "token": "query:auth", "url": "query:url",
                   "accepted": {"status": 200, "type": "text/plain", "body": "go to {url} until {expires}"},
                   "rejected": {"status": 403, "type": "text/plain", "body": "no {code}"},
                   "undecided": {"status": 503, "type": "text/plain", "body": "later"}},
                  {"path": "/polite", "token": "query:auth", "url": "query:url",
                   "accepted": {"status": 200, "type": "text/plain", "body": "yes {url}"},
                   "rejected": {"status": 200, "type": "text/plain", "body": "no {code}"},
                   "undecided": {"status": 503, "type": "text/plain", "body": "later"}},
                  {"path": "/edge", "token": "query:auth", "url": "query:url",
                   "accepted": {"status": 200, "type": "text/plain", "body": "{token}"},
                   "rejected": {"status": 403, "type": "text/plain", "body": "no {code}"},
                   "undecided": {"status": 503, "type": "text/plain", "body": "later"}}]}
                """)
    }

    private func reply(
        _ gate: Gate, _ path: String, _ query: String? = nil, token: String = "", method: String = "POST",
        headers: [(name: String, value: String)] = [], by verifier: MediaTokenVerifier? = nil
    ) -> GateReply {
        let request = HTTPRequest(
            method: method, path: path, query: query, headers: headers, body: Array(token.utf8))
        return gate.reply(to: request, by: verifier ?? self.verifier, at: clock.now)
    }

    private func verify(_ gate: Gate, _ token: String, by verifier: MediaTokenVerifier? = nil) -> GateReply {
        reply(gate, "/v1/verify", "requestor=MML&resource=TNT", token: token, by: verifier)
    }

    private func proxied(
        _ gate: Gate, _ target: String, _ headers: [(name: String, value: String)] = []
    ) -> GateReply {
        reply(
            gate, "/v1/authz/auth-request", method: "GET", headers: [("X-Original-URI", target)] + headers)
    }

    private func members(_ reply: GateReply) throws -> JSONObject { try StrictJSON.readObject(reply.answer.body[...]) }

    @Test("each refusal of a token is allowed, with its code beside, and nothing else of the decision changes")
    func refusals() throws {
        let (all, earnest) = (try gate(#", "report-only": true"#), try gate())
        let old = clock.now.advanced(by: .seconds(-1000))
        let tokens = [
            try issuer.token(issued: old), try issuer.token(mvpd: "Other"), try issuer.token(requestor: "X"),
            try issuer.token(resource: "X"), "garbage",
        ]
        for token in try tokens + TokenFault.allCases.map({ try issuer.token(fault: $0) }) {
            let (refusal, report) = (verify(earnest, token), verify(all, token))
            #expect(refusal.answer.status >= 401 && report.answer.status == 200)
            #expect(report.code == "REPORT_ONLY" && report.wouldBe?.name == refusal.code)
            #expect(report.answer.value(of: "X-Media-Token-Would-Be") == refusal.code)
            #expect(report.detail == refusal.detail && report.answer.value(of: "Cache-Control") == "no-store")
            let members = try members(report)
            #expect(try members.flag("reportOnly") == true && members.text("would_be") == refusal.code)
            #expect(try members.text("code") == "REPORT_ONLY" && members.text("mvpd") == nil)
        }
    }

    @Test("a token is consumed as in earnest, and one that is accepted is answered as in earnest")
    func consumes() throws {
        let (all, earnest) = (try gate(#", "report-only": true"#), try gate())
        let token = try issuer.token()
        let first = verify(all, token)
        #expect(first.code == "VALID_TOKEN" && first.wouldBe == nil)
        #expect(first.answer.value(of: "X-Media-Token-Would-Be") == nil)
        #expect(verify(all, token).wouldBe?.name == "TOKEN_ALREADY_USED")
        #expect(verify(earnest, token).code == "TOKEN_ALREADY_USED")
    }

    @Test("a store that fails leaves no request refused")
    func lostStore() throws {
        struct Lost: ReplayStore {
            func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
                group.map { _ in .failure(.unavailable("gone")) }
            }
        }
        let lost = MediaTokenVerifier(keys: issuer.keys, replays: Lost())
        let report = verify(try gate(#", "report-only": true"#), try issuer.token(), by: lost)
        #expect(report.answer.status == 200 && report.wouldBe?.name == "ERROR_UNKNOWN")
        #expect(report.answer.value(of: "X-Media-Token-Consumed") == "unknown")
        #expect(verify(try gate(), try issuer.token(), by: lost).answer.status == 503)
    }

    @Test("a route that only reports allows what is below it, and nothing else is allowed")
    func route() throws {
        let gate = try gate(route: #", "report-only": true"#)
        for (target, code) in [("/live/1.ts", "TOKEN_MISSING"), ("/vod/1.ts", nil), ("/nowhere", nil)] {
            let reply = proxied(gate, target)
            #expect(reply.wouldBe?.name == code && (reply.answer.status == 200) == (code != nil), "\(target)")
        }
        #expect(proxied(gate, "/trailers/1.ts").code == "TOKEN_NOT_REQUIRED")
        let two = [("X-Media-Token", "a"), ("X-Media-Token", "b")]
        #expect(proxied(gate, "/live/1.ts", two).wouldBe?.name == "TOKEN_AMBIGUOUS")
        let head = [("X-Original-Method", "HEAD"), ("X-Media-Token", "a")]
        #expect(proxied(gate, "/live/1.ts", head).wouldBe?.name == "METHOD_WITHOUT_MEDIA")
        let expired = try issuer.token(issued: clock.now.advanced(by: .seconds(-1000)))
        #expect(proxied(gate, "/live/1.ts", [("X-Media-Token", expired)]).wouldBe?.name == "TOKEN_EXPIRED")
        // A backend that names no route is answered in earnest.
        #expect(verify(gate, expired).answer.status == 401)
        let played = reply(gate, "/v1/play", "url=/live/a.m3u8", token: expired)
        #expect(try played.answer.status == 200 && members(played).text("url") == "/live/a.m3u8")
        #expect(reply(gate, "/v1/play", "url=/vod/a.m3u8", token: expired).answer.status == 401)
        // Not understood, so nothing was decided.
        #expect(reply(gate, "/v1/play", "url=/live/a.m3u8&requestor=X", token: expired).answer.status == 400)
    }

    @Test("a gate that only reports also allows a proxy's request that no route names, and no cache keeps an answer")
    func unknownRoute() throws {
        let gate = try gate(#", "report-only": true, "decision-max-age": 60"#)
        for target in ["/nowhere", "/LIVE/x", "/live/../x", "nonsense"] {
            let reply = proxied(gate, target)
            #expect(reply.answer.status == 200 && reply.wouldBe?.name == "ROUTE_UNKNOWN", "\(target)")
            #expect(reply.answer.value(of: "Cache-Control") == "no-store")
        }
    }

    @Test("a backend's request that is not understood is refused all the same, since nothing was decided")
    func notUnderstood() throws {
        let gate = try gate(#", "report-only": true"#)
        #expect(reply(gate, "/v1/verify", token: "x").answer.status == 400)
        #expect(reply(gate, "/v1/verify", method: "GET").answer.status == 405)
        #expect(reply(gate, "/v1/play", "url=/nowhere", token: "x").answer.status == 403)
        #expect(reply(gate, "/nothing").answer.status == 404)
        #expect(reply(gate, "/v1/explain", token: "x").code == "EXPLAINED")
    }

    @Test(
        "a refused token gets no grant: the URL is the stream's own, and an answer that needs a grant stays a refusal")
    func noGrant() throws {
        let gate = try gate(#", "report-only": true"#)
        for stream in ["/live/a.m3u8", "/vod/a.m3u8"] {
            let played = reply(gate, "/v1/play", "url=\(stream)", token: try issuer.token(fault: .foreignKey))
            #expect(try members(played).text("url") == stream && members(played).text("code") == "REPORT_ONLY")
            #expect(played.answer.value(of: "Set-Cookie") == nil)
        }
        func dialect(_ path: String, _ token: String) -> String {
            let reply = reply(gate, path, "url=/vod/a.m3u8&auth=" + Fixtures.percentEncoded(token))
            return "\(reply.answer.status) \(String(decoding: reply.answer.body, as: UTF8.self))"
        }
        let forged = try issuer.token(fault: .foreignKey)
        #expect(dialect("/old", forged).hasPrefix("200 go to /vod/a.m3u8 until "))
        #expect(dialect("/edge", forged) == "403 no INVALID_SIGNATURE")
        #expect(dialect("/polite", forged) == "200 yes /vod/a.m3u8")
        #expect(dialect("/old", try issuer.token()).hasPrefix("200 go to /vod/a.m3u8?hdnts="))
    }

    @Test("a refused token gets a grant only where its route reports and the settings say so")
    func grants() throws {
        for (route, isMade) in [(#", "report-only": true"#, true), ("", false)] {
            let request = HTTPRequest(
                method: "POST", path: "/v1/play", query: "url=/live/a.m3u8", headers: [], body: Array("x".utf8))
            guard case .verify(let task) = try gate(route: route).task(request, at: clock.now) else {
                throw Program.Failure(description: "no token is verified")
            }
            let outcome = verifier.verify([task.request], at: clock.now)[0]
            let replies = [true, false].map { task.reply(to: outcome, reportsWithGrants: $0, at: clock.now) }
            #expect(replies.map { $0.answer.value(of: "Set-Cookie") != nil } == [isMade, false])
            #expect(try isMade == (members(replies[0]).members["expires"] != nil))
        }
    }

    @Test("the URL has the grant that is made for a refused token")
    func grantInURL() throws {
        let request = HTTPRequest(
            method: "POST", path: "/v1/play", query: "url=/vod/a.m3u8", headers: [], body: Array("x".utf8))
        guard case .verify(let task) = try gate(#", "report-only": true"#).task(request, at: clock.now) else {
            throw Program.Failure(description: "no token is verified")
        }
        let outcome = verifier.verify([task.request], at: clock.now)[0]
        let urls = try [true, false].map {
            try members(task.reply(to: outcome, reportsWithGrants: $0, at: clock.now)).text("url") ?? ""
        }
        #expect(urls[0].hasPrefix("/vod/a.m3u8?hdnts=") && urls[1] == "/vod/a.m3u8")
    }

    @Test("HEAD with a token that fails a check is allowed, and its token is not consumed")
    func head() throws {
        let gate = try gate(route: #", "report-only": true, "allow-head": true"#)
        func head(_ token: String) -> GateReply {
            proxied(gate, "/live/1.ts", [("X-Original-Method", "HEAD"), ("X-Media-Token", token)])
        }
        #expect(head("a").wouldBe?.name == "INVALID_TOKEN_FORMAT" && head("a").answer.status == 200)
        let token = try issuer.token()
        #expect(head(token).code == "TOKEN_NOT_CONSUMED" && head(token).wouldBe == nil)
        #expect(verify(gate, token).code == "VALID_TOKEN")
        let strict = [("X-Original-Method", "HEAD"), ("X-Media-Token", "a")]
        let denied = proxied(try self.gate(route: #", "allow-head": true"#), "/live/1.ts", strict)
        #expect(denied.answer.status == 401 && denied.wouldBe == nil)
    }

    @Test("settings of an open route, and of a gate in earnest, report nothing")
    func settings() throws {
        let open = #"{"keys": ["x"], "routes": [{"path": "/a", "open": true, "report-only": true}]}"#
        #expect(try GateSettingsReader(reading: open).lines.count == 1)
        func warnings(_ text: String) throws -> [String] {
            try GateSettingsReader(reading: #"{"keys": ["x"]\#(text)}"#).settings.reportOnly.warnings
        }
        #expect(try warnings("") == [])
        #expect(try warnings(#", "report-only": true"#).map { $0.contains("playback grant") } == [false])
        let granting = #", "report-only": true, "report-only-grants": true"#
        #expect(try warnings(granting).map { $0.contains("playback grant") } == [true])
        let route = #"{"path": "/a", "requestor": "R", "resource": "S", "report-only": true}"#
        #expect(try warnings(#", "routes": [\#(route)]"#)[0].contains("no request below /a;"))
    }
}
