import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

extension EndToEnd {
    /// The HTTP API against its description, and against decoders that know one type.
    @Suite("HTTP API as it is described")
    struct HTTPInterfaceTests {
        fileprivate let place = GateDestination()

        /// The gates and tokens of `Tests/HTTPInterface/check`.
        private struct Plan: Encodable {
            let gate: String
            let admin: String
            let broken: String
            let fenced: String
            let reporting: String
            let brokenAdmin: String
            let printed: String
            let good: [String]
            let expired: String
            let future: String
            let old: String
            let forged: String
            let otherRequestor: String
            let otherResource: String
            let otherMVPD: String
            let otherKind: String
            let proxied: String
        }

        @Test("every path, code and member is as described, and one type in Python and in Swift reads every answer")
        func description() throws {
            let file = try place.directory.write(
                """
                {"mvpd": ["LIMITED=Comcast"], "decision-max-age": 5, "cors-origin": "https://player.example", "routes": [{"path": "/free", "open": true},
                  {"path": "/live", "requestor": ["MML", "LIMITED"], "resource": "TNT", "allow-head": true,
                   "grant": {"kind": "cat", "key-file": "\(try place.grantKey())", "retry-window": 60,
                     "validity": 600, "renew": "cookie:900:899", "renew-until": 1000}}]}
                """, to: "gate.json")
            let options = ["--config", file] + GateDestination.strict
            let gate = try GateProcess(in: place, options)
            let server = try RedisServer()
            let broken = try GateProcess(in: place, replays: server.url + "?timeout=200", options)
            let fenced = try GateProcess(in: place, ["--config", file, "--skew", "300"])
            let reporting = try GateProcess(in: place, options + ["--report-only"])
            let old = Timestamp(milliseconds: Timestamp.now.milliseconds - 60_000)
            let tokens = try place.tokens(140)
            server.end(SIGKILL)
            func token(_ change: (inout TokenRecipe) -> Void) throws -> String {
                try Mint.token {
                    $0 = TokenRecipe(issued: TokenDate(.now))
                    change(&$0)
                }
            }
            let plan = Plan(
                gate: "127.0.0.1:\(gate.port)", admin: "127.0.0.1:\(gate.adminPort)",
                broken: "127.0.0.1:\(broken.port)", fenced: "127.0.0.1:\(fenced.port)",
                reporting: "127.0.0.1:\(reporting.port)", brokenAdmin: "127.0.0.1:\(broken.adminPort)",
                printed: try place.directory.write(
                    try Program.mediaToken.succeed(["serve", "--print=openapi"]), to: "openapi.json"),
                good: tokens,
                expired: try token { $0.issued = TokenDate(Timestamp(milliseconds: old.milliseconds - 3_600_000)) },
                future: try token { $0.issued = TokenDate(Timestamp(milliseconds: old.milliseconds + 3_600_000)) },
                old: try token { $0.issued = TokenDate(old) },
                forged: try Mint.token(key: TestKeys.stranger) { $0.issued = TokenDate(.now) },
                otherRequestor: try token { $0.requestor = "OTHER" }, otherResource: try token { $0.resource = "CNN" },
                otherMVPD: try token { $0.requestor = "LIMITED" },
                otherKind: try token { $0.kind = .authentication },
                proxied: try token {
                    $0.requestor = "PROXIED"
                    $0.proxyMVPD = "Proxy"
                })
            let file2 = try place.directory.write(try JSONEncoder().encode(plan), to: "plan.json")
            let outcome = try Program(".build/python/bin/python").run(["Tests/HTTPInterface/check", file2])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let clients = try Program(".build/python/bin/python").run(["Tests/HTTPInterface/clients", file2])
            #expect(clients.status == 0, "\(clients.output)\(clients.errors)")
            let answers = outcome.output.split(separator: "\n")
            #expect(answers.count > 40)
            for answer in answers {
                let read = try GateAnswer.read(Data(answer.utf8))
                #expect(read.status != nil && !read.isAccepted || read.expires != nil, "\(answer)")
            }
        }

        @Test("the same types read what verify and inspect print")
        func commandLine() throws {
            let python = ["-c", "import sys, answer; [print(answer.read(line).code) for line in sys.stdin]"]
            let key = ["--key", place.key, "--json"]
            let names = ["--requestor", "MML", "--resource", "TNT"]
            let token = try place.tokens(1)[0]
            for (arguments, codes) in [
                (["verify"] + key + names, ["VALID_TOKEN", "TOKEN_ALREADY_USED", "INVALID_TOKEN_FORMAT"]),
                (["inspect"] + key, ["VERIFIED", "VERIFIED"]),
                (["verify", "--find"] + key + names, ["VALID_TOKEN"]),
            ] {
                let printed = try Program.mediaToken.run(arguments, input: Data("\(token)\n\(token)\njunk\n".utf8))
                let read = try printed.output.split(separator: "\n").map { try GateAnswer.read(Data($0.utf8)).code }
                let outcome = try Program(".build/python/bin/python").run(
                    python, input: Data(printed.output.utf8), environment: ["PYTHONPATH": "Tests/HTTPInterface"])
                #expect(
                    read == codes && outcome.output.split(separator: "\n").map(String.init) == codes,
                    "\(outcome.errors)")
            }
        }
    }
}

extension EndToEnd.HTTPInterfaceTests {
    /// A request of the page on the HTTP API, and the answer that the page shows below it.
    private struct Sample {
        let command: String
        let answer: String
    }

    private static let page = "MediaTokenGate/MediaTokenGate.docc/HTTPInterface"

    private static func samples() throws -> [Sample] {
        let blocks = try Fixtures.page(page).components(separatedBy: "\n```").dropFirst()
        // Every other piece is text between two blocks.
        let fenced = blocks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        return zip(fenced, fenced.dropFirst()).compactMap { command, answer in
            guard command.hasPrefix("sh\n") else { return nil }
            let shown = answer.drop { $0 != "\n" }.dropFirst()
            return Sample(command: String(command.dropFirst(3)), answer: String(shown))
        }
    }

    @Test(
        "the page on the HTTP API can be pasted into a shell in an empty folder, and each request is answered as it shows"
    )
    func page() throws {
        let samples = try Self.samples()
        #expect(samples.count == 10)
        let setUp = String(
            try #require(Fixtures.page(Self.page).firstMatch(of: /```\n(media-token keys generate(?s).*?)\n```/)).1)
        let issue = try #require(setUp.split(separator: "\n").last)
        let requests = samples.enumerated().map { number, sample in
            "(\n\(sample.command.replacing("curl ", with: "curl -sS "))\n) > answer-\(number)\ncp token.txt used.txt\n\(issue)"
        }
        let folder = try TemporaryDirectory()
        _ = try EndToEnd.paste(
            setUp + "\n" + requests.joined(separator: "\n"),
            ports: Array(zip([8080, 8081], try FreePort.take(2))), in: folder.path)
        for (number, sample) in samples.enumerated() {
            let answer = try String(contentsOfFile: "\(folder.path)/answer-\(number)", encoding: .utf8)
            try Self.check(answer, of: sample)
        }
    }

    /// Compares an answer with the one that the page shows, but for what depends on the time and the token.
    private static func check(_ answer: String, of sample: Sample) throws {
        guard sample.answer.hasPrefix("{") else {
            for line in sample.answer.split(separator: "\n") {
                #expect(answer.contains(line), "\(sample.command): \(answer)")
            }
            return
        }
        let (came, shown) = (try object(answer), try object(sample.answer))
        #expect(Set(came.keys) == Set(shown.keys), "\(sample.command): \(answer)")
        let ofTheMoment: Set = ["expires", "secondsLeft", "issueTime", "key", "ttl", "checks", "fields", "token"]
        for (name, value) in shown where !ofTheMoment.contains(name) {
            #expect("\(came[name] ?? "none")" == "\(value)", "\(sample.command): \(answer)")
        }
    }

    private static func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any], "\(json)")
    }
}
