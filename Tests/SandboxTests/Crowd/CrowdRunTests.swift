import EventLoops
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

@Suite("a crowd of devices, a sandbox and a gate as programs")
struct CrowdRunTests {
    private let directory: TemporaryDirectory
    private let ports: [Int]
    private let sandbox: Daemon

    init() throws {
        directory = try TemporaryDirectory()
        ports = try FreePort.take(4)
        let (log, keys) = (directory.path + "/sandbox.log", directory.path + "/sandbox-keys")
        sandbox = try Daemon(
            Program.sandbox.executable, ["serve", "--listen", "127.0.0.1:\(ports[0])", "--keys-to", keys], log: log)
        try sandbox.wait { [sandbox] in try sandbox.printed().contains("serving on") }
        _ = try directory.write(String(repeating: "0f", count: 32), to: "grant.key")
    }

    /// Starts a gate with the configuration that the crowd prints, changed by `change`.
    private func startGate(
        _ options: [String] = [], _ change: (String) -> String = { $0 }
    ) throws -> Daemon {
        let printed = try Program.sandbox.succeed(["crowd", "--print-gate"] + options)
        let settings = change(printed).replacingOccurrences(
            of: "sandbox-keys/", with: "\(directory.path)/sandbox-keys/"
        )
        .replacingOccurrences(of: "grant.key", with: "\(directory.path)/grant.key")
        let (file, log) = (try directory.write(settings, to: "gate.json"), directory.path + "/gate.log")
        let gate = try Daemon(
            Program.mediaToken.executable,
            [
                "serve", "--config", file, "--skew", "1", "--listen", "127.0.0.1:\(ports[1])", "--admin",
                "127.0.0.1:\(ports[2])",
            ], log: log)
        try gate.wait { try gate.printed().contains("administered on") }
        return gate
    }

    private func play(_ options: [String], gate: Bool = true) throws -> Program.Outcome {
        let place = gate ? ["--gate", "http://127.0.0.1:\(ports[1])"] : []
        return try Program.sandbox.run(
            ["crowd", "--service", "http://127.0.0.1:\(ports[0])", "--seconds", "5"] + place + options)
    }

    /// What a report says that the seed decides.
    private func repeated(_ text: String) throws -> NSDictionary {
        var object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect((object["times"] as? [String: Any])?["latencyNanoseconds"] != nil && object["run"] != nil)
        (object["times"], object["run"]) = (nil, nil)
        return object as NSDictionary
    }

    @Test(
        "everything happens as expected; the same seed gives the same report but for times, and no report has a token")
    func asExpected() throws {
        let gate = try startGate()
        defer { gate.end() }
        let page = directory.path + "/page.html"
        let parts = ["--memory-of", "gate=\(gate.identifier)", "--memory-of", "sandbox=\(sandbox.identifier)"]
        let first = try play(["--devices", "120", "--seed", "7", "--json", "-", "--page", page] + parts)
        #expect(first.status == 0, "\(first.output.suffix(2000)) \(first.errors)")
        let file = directory.path + "/report.json"
        let second = try play(["--devices", "120", "--seed", "7", "--workers", "1", "--json", file])
        #expect(second.status == 0 && second.output.contains("no token was accepted more often than it may be"))
        let json = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try repeated(first.output) == repeated(json))
        let other = try play(["--devices", "120", "--seed", "8", "--json", "-"])
        #expect(try repeated(other.output)["stories"] as? NSObject != repeated(json)["stories"] as? NSObject)
        #expect(first.output.matches(of: /"most": [1-9][0-9]{6,}/).count == 3, "\(first.output.suffix(1000))")
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("</i>sandbox</span>"))
    }

    /// A server at the place of a gate, whose codes are right. It refuses with this status, and with a cookie if there
    /// is one.
    private func startLiar(_ status: Int, cookie: String? = nil) throws -> HTTPServer {
        let used = Mutex<Set<[UInt8]>>([])
        let listener = try #require(HTTPListener("127.0.0.1:\(ports[3])"))
        return try HTTPServer([listener], workers: 1) { _ in
            HTTPHandler { exchanges in
                for exchange in exchanges {
                    let isFirst = used.withLock { $0.insert(Array(exchange.request.body)).inserted }
                    var answer = HTTPAnswer(isFirst ? 200 : status)
                    answer.add("X-Media-Token-Code", isFirst ? "VALID_TOKEN" : "TOKEN_ALREADY_USED")
                    if !isFirst, let cookie { answer.add("set-cookie", cookie) }
                    exchange.answer(answer)
                }
            }
        }
    }

    @Test("a gate whose refusals can be taken for a yes ends the crowd with 1")
    func liars() throws {
        let options = ["--devices", "20", "--only", "double-tap", "--gate", "http://127.0.0.1:\(ports[3])"]
        for (status, cookie, words) in [
            (200, nil, "TOKEN_ALREADY_USED with HTTP 200 that opens"),
            (204, nil, "TOKEN_ALREADY_USED with HTTP 204 that opens"),
            (403, "grant=x; Path=/", "TOKEN_ALREADY_USED with HTTP 403 that opens"),
        ] {
            let liar = try startLiar(status, cookie: cookie)
            let outcome = try play(options, gate: false)
            liar.stop(withinMilliseconds: 1000)
            #expect(outcome.status == 1 && outcome.output.contains(words), "\(outcome)")
            #expect(outcome.output.contains("20 tokens accepted too often"), "\(outcome)")
        }
        let honest = try startLiar(403)
        defer { honest.stop(withinMilliseconds: 1000) }
        #expect(try play(options, gate: false).status == 0)
    }

    @Test("a route with a retry window accepts a retry, and the crowd says so")
    func retryWindow() throws {
        let gate = try startGate(["--retry-window"])
        defer { gate.end() }
        let options = ["--devices", "40", "--only", "retry", "--only", "double-tap"]
        #expect(try play(options + ["--retry-window"]).status == 0)
        let without = try play(options)
        #expect(without.status == 1 && without.output.contains("accepted too often"))
    }

    @Test("a gate for another resource ends the crowd with 1, and the report says what differs")
    func otherResource() throws {
        let gate = try startGate { $0.replacingOccurrences(of: "\"TNT\"", with: "\"Other\"") }
        defer { gate.end() }
        let outcome = try play(["--devices", "20", "--only", "plain"])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("20 of 20 stories ended otherwise than expected"))
        #expect(
            outcome.output.contains(
                "plain, 20 times, first device 0: play INVALID_RESOURCE_ID × 1 instead of play VALID_TOKEN × 1"))
    }

    @Test("without a gate the crowd does not run, and a wrong option is a usage error")
    func noGate() throws {
        let outcome = try play(["--devices", "20"])
        #expect(outcome.status == 2 && outcome.errors.contains("no answer from 127.0.0.1, port \(ports[1])"))
        #expect(try play(["--only", "plane"]).status == 64)
        #expect(try play(["--memory-of", "x"]).status == 64)
        #expect(try play(["--path", "live"]).status == 64)
    }

    @Test("an interrupted crowd reports what has happened, and ends with 2")
    func interrupted() throws {
        let gate = try startGate()
        defer { gate.end() }
        let outcome = try Program("timeout").run(
            [
                "--foreground", "--preserve-status", "-s", "INT", "20", Program.sandbox.executable, "crowd",
                "--service",
                "http://127.0.0.1:\(ports[0])", "--gate", "http://127.0.0.1:\(ports[1])", "--devices", "3000",
                "--seconds", "600", "--curve", "steady",
            ])
        #expect(outcome.status == 2 && outcome.output.contains("interrupted after"), "\(outcome)")
    }
}
