import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The week in which a gate only reports")
    struct ReportOnlyTests {
        private let place = GateDestination()

        /// A play of one of four apps, three of which have a fault.
        private struct Play {
            let app: String
            let token: String
            /// The code of the decision in earnest.
            let code: String
        }

        /// The plays of apps that are right, that use each token four times, whose tokens are six minutes old, and
        /// whose viewers have an MVPD that is on no list. A token is issued after the gate's store has begun.
        private static func plays(_ count: Int) throws -> [Play] {
            let issued = Timestamp(milliseconds: (Timestamp.now.milliseconds / 1000 + 1) * 1000)
            func token(age: Int64 = 0, mvpd: String = "TempPass") throws -> String {
                try Mint.token {
                    $0 = TokenRecipe(issued: TokenDate(issued.advanced(by: .seconds(-age))))
                    ($0.sessionGUID, $0.mvpd) = (TokenRecipe.freshSessionGUID(), mvpd)
                    $0.timeToLive = 300_000
                }
            }
            var (plays, cached) = ([Play](), "")
            for number in 0..<count {
                switch number % 10 {
                case 0..<6: plays.append(Play(app: "Right/1.0", token: try token(), code: "VALID_TOKEN"))
                case 6, 7:
                    // Two of ten plays are this app's.
                    let use = (number / 10 * 2 + number % 10 - 6) % 4
                    if use == 0 { cached = try token() }
                    plays.append(
                        Play(
                            app: "Caching/2.1", token: cached, code: use == 0 ? "VALID_TOKEN" : "TOKEN_ALREADY_USED"))
                case 8: plays.append(Play(app: "Late/3", token: try token(age: 360), code: "TOKEN_EXPIRED"))
                default:
                    let token = try token(mvpd: "Newcomer")
                    plays.append(Play(app: "Partner/4", token: token, code: "INVALID_MVPD_ID"))
                }
            }
            while Timestamp.now < issued { usleep(10_000) }
            return plays
        }

        /// Has a gate decide plays, and returns the status of each.
        private func statuses(_ plays: [Play], _ gate: GateProcess) throws -> [Int?] {
            var connection = try RawConnection(port: gate.port)
            return try plays.enumerated().map { (number, play) -> Int? in
                // The gate serves a connection for a limited number of requests at most.
                if number % 1000 == 999 { connection = try RawConnection(port: gate.port) }
                return connection.ask(
                    "POST /v1/verify?requestor=MML&resource=TNT HTTP/1.1\r\nHost: gate\r\nUser-Agent: \(play.app) (x)\r\n"
                        + "Content-Type: text/plain\r\nContent-Length: \(play.token.utf8.count)\r\n\r\n\(play.token)"
                )?.status
            }
        }

        private func gate(_ options: [String]) throws -> GateProcess {
            try GateProcess(in: place, GateDestination.strict + ["--mvpd", "MML=TempPass"] + options)
        }

        @Test("the summary names three faulty apps with their shares, and in earnest exactly their plays are refused")
        func week() throws {
            let count = Program.slowness > 1 ? 1000 : 10_000
            let reporting = try gate(["--report-only"])
            let plays = try Self.plays(count)
            #expect(try statuses(plays, reporting).allSatisfy { $0 == 200 })
            reporting.end()
            let log = try place.directory.write(try reporting.logged(), to: "gate.log")
            let page = place.directory.path + "/refusals.html"
            let outcome = try Program.mediaToken.run(["refusals", "--json", "--report", page, log])
            #expect(outcome.status == 1 && outcome.errors == "")
            let summary = try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
            #expect(summary["requests"] as? Int == count && summary["refused"] as? Int == count * 35 / 100)
            #expect(summary["reportOnly"] as? Int == count * 35 / 100)
            let causes = try #require(summary["causes"] as? [[String: Any]]).map { cause in
                "\(cause["cause"] ?? "") \(cause["app"] ?? cause["mvpd"] ?? "") \(cause["share"] ?? "")"
            }
            #expect(
                causes.sorted() == [
                    "cached-token Caching/2.1 0.15", "late-token Late/3 0.1", "mvpd-not-listed Newcomer 0.1",
                ])
            #expect(try String(contentsOfFile: page, encoding: .utf8).contains("Caching/2.1"))

            let deciding = try gate([])
            let again = try Self.plays(count)
            let codes = try statuses(again, deciding)
            #expect(zip(again, codes).allSatisfy { ($0.code == "VALID_TOKEN") == ($1 == 200) })
            deciding.end()
            let decided = try deciding.logged().split(separator: "\n").filter { $0.hasPrefix("{") }.map {
                try GateAnswer.read(Data($0.utf8)).code
            }
            // The lines of two workers are written apart.
            #expect(decided.sorted() == again.map(\.code).sorted())
        }

        @Test("the page's blocks, pasted into an empty folder, allow a second use, name its cause, and then refuse it")
        func page() throws {
            let page = "MediaTokenGate/MediaTokenGate.docc/FromAdobesVerifier"
            func block(_ heading: String, _ language: String = "sh") throws -> String {
                try Fixtures.snippet(language, under: heading, of: page)
            }
            func shown(after block: String) throws -> String {
                let text = try Fixtures.page(page)
                let begin = try #require(text.range(of: block + "\n```\n\n```\n")).upperBound
                return String(
                    text[begin..<(try #require(text.range(of: "\n```", range: begin..<text.endIndex))).lowerBound])
            }
            let (read, test) = (try block("Read what would be refused"), try block("A test of your service"))
            let steps = [
                "until [ \"$(wc -l < gate.log)\" -ge 2 ]; do sleep 0.1; done", "\(read) || true",
                try block("Decide in earnest, and go back"),
                "until grep -q 'reloaded:' errors; do sleep 0.1; done", test,
            ]
            let start = try block("Start a gate that only reports").replacing(
                ">> gate.log", with: ">> gate.log 2> errors")
            let folder = try TemporaryDirectory()
            let output = try EndToEnd.paste(
                ([start] + steps).joined(separator: "\n"), ports: Array(zip([8080, 8081], try FreePort.take(2))),
                in: folder.path)
            #expect(output.contains(try block("Start a gate that only reports", "json")), "\(output)")
            #expect(try output.contains(shown(after: read)) && output.hasSuffix(shown(after: test) + "\n"), "\(output)")
            let written = try String(contentsOfFile: folder.path + "/refusals.html", encoding: .utf8)
            #expect(written.contains("ExampleTV/4.2"))
        }

        @Test("while its store is down, a gate that only reports is ready, says what is wrong, and refuses nothing")
        func lostStore() throws {
            let redis = try RedisServer()
            let gate = try GateProcess(
                in: place, replays: redis.url + "?timeout=20000", GateDestination.strict + ["--report-only"])
            try gate.wait { try gate.admin("/readyz").hasSuffix("200") }
            #expect(try gate.admin("/metrics").contains(#",report_only="all"} 1"#))
            redis.end(SIGKILL)
            #expect(try gate.verify(try place.tokens(1)[0]) == 200)
            let readiness = try gate.admin("/readyz")
            #expect(
                readiness.hasPrefix("ready\nwarning: report-only: the gate refuses no request; ")
                    && readiness.contains("\nwarning: the replay store is unavailable") && readiness.hasSuffix("200"),
                "\(readiness)")
            try gate.wait { try gate.logged().contains(#""would_be":"ERROR_UNKNOWN""#) }
            #expect(
                try gate.admin("/metrics").contains(
                    #"media_token_would_be_total{would_be="ERROR_UNKNOWN",requestor="other",endpoint="/v1/verify"} 1"#))
        }

        @Test("the start, --check and a reload name each route that only reports; a reload ends it")
        func loud() throws {
            let (live, vod) = (try place.route("/live"), try place.route("/vod"))
            let reporting = vod.replacing(#"{"path""#, with: #"{"report-only": true, "path""#)
            let options = try place.options(#"{"routes": [\#(live), \#(reporting)]}"#)
            let said = "warning: report-only: the gate refuses no request below /vod;"
            let check = try Program.mediaToken.run(["serve", "--check", "--keys", place.key] + options)
            #expect(check.status == 0 && check.errors.contains(said), "\(check)")
            let gate = try GateProcess(in: place, options)
            try gate.wait { try gate.logged().contains(said) }
            try gate.wait { try gate.admin("/readyz").contains(said) }
            func ask(_ path: String) throws -> Int? {
                try gate.status("GET /v1/authz/ext-authz\(path) HTTP/1.1\r\nHost: gate\r\n\r\n")
            }
            #expect(try ask("/vod/1.ts") == 200 && ask("/live/1.ts") == 401)
            _ = try place.options(#"{"routes": [\#(live), \#(vod)]}"#)
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reloaded:") }
            #expect(try ask("/vod/1.ts") == 401)
            #expect(try !gate.admin("/readyz").contains("report-only"))
        }

        @Test(
            "a reload that fails ends what its file no longer only reports, and nothing that it still does",
            arguments: [true, false], [#", "viewer-key-file": "/nowhere/key""#, #", "max-ttl": "x""#])
        func failedReload(isForAll: Bool, mistake: String) throws {
            let route = try place.route("/vod").replacing(#"{"path""#, with: #"{"report-only": true, "path""#)
            func settings(_ isReporting: Bool, _ further: String = "") -> String {
                let strict = route.replacing(#""report-only": true, "#, with: "")
                let all = isForAll && isReporting ? #""report-only": true, "# : ""
                return #"{\#(all)"routes": [\#(isForAll || !isReporting ? strict : route)]\#(further)}"#
            }
            let gate = try GateProcess(in: place, try place.options(settings(true)))
            func ask() throws -> Int? {
                try gate.status("GET /v1/authz/ext-authz/vod/1.ts HTTP/1.1\r\nHost: gate\r\n\r\n")
            }
            #expect(try ask() == 200)
            let broken = mistake
            for (isReporting, status, failures) in [(true, 200, 1), (false, 401, 2)] {
                _ = try place.options(settings(isReporting, broken))
                gate.signal(SIGHUP)
                try gate.wait { try gate.logged().components(separatedBy: "reload failed").count > failures }
                try gate.wait { try ask() == status }
            }
            try gate.wait { try gate.logged().contains("withdrawn in spite of that: report-only") }
        }

        @Test("a refused token gets a grant only where the settings say so, and the grant opens the stream")
        func grants() throws {
            let settings =
                #"{"report-only": true, "report-only-grants": true, "routes": [\#(try place.route("/live"))]}"#
            let gate = try GateProcess(in: place, try place.options(settings))
            let answer = try #require(
                try RawConnection(port: gate.port).ask(
                    "POST /v1/play?url=/live/a.m3u8 HTTP/1.1\r\nHost: gate\r\nContent-Length: 7\r\n\r\ngarbage"))
            #expect(answer.status == 200 && answer.body.contains(#""would_be":"INVALID_TOKEN_FORMAT""#))
            let cookie = try #require(
                answer.headers.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
            let value = cookie.dropFirst(12).prefix { $0 != ";" }
            let opened = try RawConnection(port: gate.port).ask(
                "GET /v1/authz/ext-authz/live/1.ts HTTP/1.1\r\nHost: gate\r\nCookie: \(value)\r\n\r\n")
            #expect(opened?.headers.contains("X-Media-Token-Code: GRANT_VALID\r\n") == true)
        }
    }
}
