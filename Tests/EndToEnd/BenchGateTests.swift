import Foundation
import TestSupport
import Testing
import TokenCrypto

extension EndToEnd {
    @Suite("media-token bench gate")
    struct BenchGateTests {
        private let place: GateDestination
        private let signingKey: String

        init() throws {
            place = GateDestination()
            signingKey = try place.directory.write(try TestKeys.standard.pemText(), to: "signing.key")
        }

        private struct Figures: Decodable {
            let answers: Int
            let unanswered: Int
            let unsent: Int
            let seconds: Double
            let tokensRanOutAfterSeconds: Double?
            let shortage: String?
            let codes: [String: Int]
            let details: [String: String]
            let latencyNanoseconds: [String: UInt64]
        }

        private func bench(
            _ gate: GateProcess, at path: String = "", _ options: [String]
        ) throws -> (status: Int32, figures: Figures) {
            let outcome = try Program.mediaToken.run(
                ["bench", "gate", "http://127.0.0.1:\(gate.port)\(path)", "--json"] + options)
            try #require(!outcome.output.isEmpty, "\(outcome.errors)")
            return (outcome.status, try JSONDecoder().decode(Figures.self, from: Data(outcome.output.utf8)))
        }

        @Test("every token is accepted once, flat out; a second time none is, and that is exit 1 unless expected")
        func flatOut() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let tokens = try place.directory.write(try place.tokens(200).joined(separator: "\n"), to: "tokens")
            let first = try bench(gate, ["--tokens", tokens, "--connections", "8"])
            #expect(first.status == 0)
            #expect(first.figures.codes == ["VALID_TOKEN": 200])
            let second = try bench(gate, ["--tokens", tokens])
            #expect(second.status == 1)
            #expect(second.figures.codes == ["TOKEN_ALREADY_USED": 200])
            #expect(try bench(gate, ["--tokens", tokens, "--expect", "TOKEN_ALREADY_USED"]).status == 0)
        }

        @Test("at a set rate, requests are sent when they are due, and a stall shows in the latency")
        func stall() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let tokens = try place.directory.write(try place.tokens(400).joined(separator: "\n"), to: "tokens")
            // For a second in the midst of four.
            gate.signal(SIGSTOP, SIGCONT, afterAccepting: 150, pauseMilliseconds: 1000)
            let options = ["--tokens", tokens, "--rate", "100", "--seconds", "10"]
            let (status, figures) = try bench(gate, options + ["--connections", "4"])
            #expect(status == 0)
            #expect(figures.answers == 400)
            #expect(figures.seconds >= 3.9)
            // The hundred that were due meanwhile waited, not just the four that were on their way.
            #expect(figures.latencyNanoseconds["p90", default: 0] > 300_000_000)
        }

        @Test("a stall at the end shows in what was due and not sent")
        func stallAtTheEnd() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let tokens = try place.directory.write(try place.tokens(400).joined(separator: "\n"), to: "tokens")
            // The run ends while it stands.
            gate.signal(SIGSTOP, SIGCONT, afterAccepting: 100, pauseMilliseconds: 3000)
            let options = ["--tokens", tokens, "--rate", "100", "--seconds", "3", "--connections", "4"]
            let (status, figures) = try bench(gate, options)
            #expect(status == 1)
            #expect(figures.unsent > 50)
            #expect(figures.unanswered == 0)
        }

        @Test("where nobody answers it says so, and what is half answered is exit 1")
        func unreachable() throws {
            let port = try FreePort.take(1)[0]
            let options = ["--signing-key", signingKey, "--count", "50"]
            let outcome = try Program.mediaToken.run(["bench", "gate", "http://127.0.0.1:\(port)"] + options)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("no answer"))
            let unknown = try Program.mediaToken.run(["bench", "gate", "http://256.1.1.1"] + options)
            #expect(unknown.status == 2)
            #expect(unknown.errors.contains("256.1.1.1: "))
            let gate = try GateProcess(in: place, GateDestination.strict)
            gate.signal(SIGKILL, afterAccepting: 100)
            let (status, figures) = try bench(gate, options.dropLast(2) + ["--count", "400", "--rate", "100"])
            #expect(status == 1)
            #expect(figures.unanswered > 0)
        }

        /// A gate with an open route, and with one whose grant is a cookie.
        private func gateWithRoutes() throws -> GateProcess {
            let settings = """
                {"routes": [{"path": "/open", "open": true}, \(try place.route("/live", #""issuer": "gate""#)),
                  {"path": "/akamai", "requestor": "MML", "resource": "TNT",
                  "grant": {"kind": "akamai", "key-file": "\(try place.grantKey())", "delivery": "cookie"}}]}
                """
            return try GateProcess(in: place, try place.options(settings))
        }

        private var signing: [String] { ["--signing-key", signingKey, "--resource", "TNT"] }
        private let brief = ["--rate", "100", "--seconds", "1"]

        @Test(
            "every question of a backend and of each proxy is asked as they ask it",
            arguments: [
                ("/v1/play", []), ("/v1/authz/auth-request", []), ("/v1/authz/forward-auth", ["--by", "token"]),
                ("/v1/authz/ext-authz", []), ("/v1/authz/auth-request", ["--by", "grant"]),
                ("/v1/authz/forward-auth", ["--by", "grant"]), ("/v1/authz/ext-authz", ["--by", "grant"]),
            ])
        func questions(path: String, options: [String]) throws {
            let gate = try gateWithRoutes()
            let (status, figures) = try bench(gate, at: path, ["--stream", "/live/1.ts"] + options + signing + brief)
            #expect(status == 0)
            #expect(figures.codes == [options.last == "grant" ? "GRANT_VALID" : "VALID_TOKEN": 100])
            // A grant is one exchange of a token; other loads have a first question, and a token for each other one.
            let accepted = try gate.admin("/metrics").contains(
                "media_token_replay_entries \(options.last == "grant" ? 1 : 101)\n")
            #expect(accepted)
        }

        @Test("an open route is asked about without tokens; an answer without a verdict can be expected")
        func openRoute() throws {
            let gate = try gateWithRoutes()
            let open = ["--stream", "/open/1.ts", "--by", "nothing"] + brief
            for path in ["/v1/authz/auth-request", "/v1/authz/forward-auth", "/v1/authz/ext-authz"] {
                let (status, figures) = try bench(gate, at: path, open)
                #expect(status == 0)
                #expect(figures.codes == ["TOKEN_NOT_REQUIRED": 100])
            }
            let paid = ["--stream", "/live/1.ts", "--by", "nothing"] + brief
            #expect(try bench(gate, at: "/v1/authz/ext-authz", paid).status == 1)
            #expect(try bench(gate, at: "/v1/authz/ext-authz", paid + ["--expect", "TOKEN_MISSING"]).status == 0)
            let nowhere = try bench(
                gate, at: "/v1/play", ["--stream", "/open/1.ts", "--expect", "REQUEST_INVALID"] + signing + brief)
            #expect(nowhere.status == 0)
            #expect(nowhere.figures.details["REQUEST_INVALID"]?.contains("needs no token") == true)
            let page = place.directory.path + "/page.html"
            let lines = try Program.mediaToken.run(
                [
                    "bench", "gate", "http://127.0.0.1:\(gate.port)/v1/play", "--stream", "/open/1.ts", "--report",
                    page,
                ] + signing + brief)
            let reason = "expected VALID_TOKEN; REQUEST_INVALID: the stream is open"
            #expect(lines.status == 1 && lines.output.contains(reason), "\(lines.output)")
            #expect(try String(contentsOfFile: page, encoding: .utf8).contains(reason))
        }

        @Test("a grant that cannot be had is an error that says what came")
        func noGrant() throws {
            let gate = try gateWithRoutes()
            for (stream, resource, answer) in [
                ("/live/1.ts", "HBO", "INVALID_RESOURCE_ID ("),
                // A cookie, but of a grant that only a CDN takes.
                ("/akamai/1.ts", "TNT", "VALID_TOKEN, without the cookie CTA-Common-Access-Token"),
            ] {
                let outcome = try Program.mediaToken.run(
                    [
                        "bench", "gate", "http://127.0.0.1:\(gate.port)/v1/authz/ext-authz", "--stream", stream, "--by",
                        "grant", "--signing-key", signingKey, "--resource", resource,
                    ])
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains("/v1/play answers \(answer)"), "\(outcome.errors)")
            }
        }

        @Test(
            "the highest rate with a latency is searched by steps, which JSON and page show; where none keeps it, that is exit 1"
        )
        func findsRate() throws {
            struct Found: Decodable {
                struct Step: Decodable {
                    let p99: UInt64
                    let isKept: Bool
                }
                let highestRate: Double
                let answersPerProcessorSecond: Double?
                let steps: [String: Step]
            }
            func found(_ goal: String, _ options: [String]) throws -> (status: Int32, Found) {
                let outcome = try Program.mediaToken.run(
                    ["bench", "gate", "http://127.0.0.1:\(gate.port)/v1/authz/ext-authz", "--stream", "/open/1.ts"]
                        + ["--by", "nothing", "--find-rate", goal, "--seconds", "1", "--json"] + options)
                return (outcome.status, try JSONDecoder().decode(Found.self, from: Data(outcome.output.utf8)))
            }
            let gate = try gateWithRoutes()
            let page = place.directory.path + "/page.html"
            let (status, kept) = try found(
                "p50=1s", ["--metrics", "http://127.0.0.1:\(gate.adminPort)", "--report", page])
            #expect(status == 0 && kept.highestRate >= 250 && kept.answersPerProcessorSecond ?? 0 > 0)
            #expect(kept.steps.filter(\.value.isKept).keys.compactMap { Double($0) }.max() == kept.highestRate)
            #expect(try String(contentsOfFile: page, encoding: .utf8).contains("Latency by requests a second"))
            let (missed, none) = try found("p50=1us", [])
            #expect(
                missed == 1 && none.highestRate == 0 && none.steps.values.allSatisfy { !$0.isKept && $0.p99 > 1000 })
        }

        @Test("tokens are signed while it runs, so that a run at a set rate lasts its time")
        func signsMeanwhile() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let begin = ContinuousClock.now
            let (status, figures) = try bench(
                gate, ["--signing-key", signingKey, "--rate", "100", "--seconds", "3", "--count", "10"])
            #expect(status == 0)
            #expect(figures.codes == ["VALID_TOKEN": 300])
            #expect(figures.seconds >= 2.99)
            #expect(figures.tokensRanOutAfterSeconds == nil && figures.shortage == nil)
            #expect(ContinuousClock.now - begin < Program.patience)
        }

        @Test("tokens that run out end the run, and it says so: here, in the JSON and on the page")
        func runsOut() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let options = ["--signing-key", signingKey, "--count", "20", "--seconds", "30"]
            let (status, figures) = try bench(gate, options)
            #expect(status == 0)
            #expect(figures.answers >= 20)
            #expect(figures.tokensRanOutAfterSeconds ?? 99 < 20)
            #expect(figures.shortage?.hasPrefix("tokens ran out after ") ?? false)
            let page = place.directory.path + "/report.html"
            let outcome = try Program.mediaToken.run(
                ["bench", "gate", "http://127.0.0.1:\(gate.port)", "--report", page] + options)
            #expect(outcome.output.contains(" of 30 s: signing makes about "))
            #expect(try String(contentsOfFile: page, encoding: .utf8).contains("sign more ahead with --count"))
        }

        @Test("a rate for which signing is too slow is refused before anything is asked")
        func tooFast() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let outcome = try Program.mediaToken.run(
                [
                    "bench", "gate", "http://127.0.0.1:\(gate.port)", "--signing-key", signingKey, "--rate", "1000000",
                    "--seconds", "600",
                ])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("expected a --rate up to "), "\(outcome.errors)")
        }

        @Test("the load begins when a new store accepts tokens, and it says why it waits")
        func waitsForTheFence() throws {
            let gate = try GateProcess(in: place, ["--skew", "3"])
            let outcome = try Program.mediaToken.run(
                ["bench", "gate", "http://127.0.0.1:\(gate.port)", "--signing-key", signingKey] + brief)
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            #expect(
                outcome.errors.contains(/is new, and still rejects every token; waiting \d+ s/),
                "\(outcome.errors)")
        }
    }
}
