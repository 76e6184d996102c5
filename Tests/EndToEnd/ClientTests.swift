import Foundation
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Clients to paste")
    struct ClientTests {
        private static let page = "MediaTokenGate/MediaTokenGate.docc/Clients"
        private let place = GateDestination()
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        /// A client of the page.
        enum Client: String, CaseIterable {
            case node = "Node"
            case python = "Python"
            case java = "Java"
            case go = "Go"
            case php = "PHP"
            case curl

            /// The language of its block, its file, and the command that runs it.
            var shape: (language: String, file: String, command: [String]) {
                switch self {
                case .node: ("js", "gate.mjs", ["node"])
                case .python: ("python", "gate.py", ["python3"])
                case .java: ("java", "Gate.java", ["java"])
                case .go: ("go", "gate.go", ["go", "run"])
                case .php: ("php", "gate.php", ["php"])
                case .curl: ("sh", "gate.sh", ["sh"])
                }
            }
        }

        /// Pastes a client into the empty folder.
        private func paste(_ client: Client) throws {
            let text = try Fixtures.snippet(client.shape.language, under: client.rawValue, of: Self.page)
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 40)
            try folder.write(text + "\n", to: client.shape.file)
        }

        private func run(_ client: Client, _ url: String, _ token: String) throws -> Program.Outcome {
            let command = "cd '\(folder.path)' && exec \"$@\""
            return try Program("sh").run(
                ["-c", command, "sh"] + client.shape.command + [client.shape.file, url], input: Data(token.utf8),
                environment: ["HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        }

        private static let again = "fetch a new token and play again\n"

        @Test(
            "each is pasted and run: allowed, refused, with a grant, only reported, and while the store is down",
            arguments: Client.allCases)
        func outcomes(client: Client) throws {
            try paste(client)
            let redis = try RedisServer()
            let store = redis.url + "?timeout=20000"
            let options = try place.exchange()
            let gate = try GateProcess(in: place, replays: store, options)
            let reporting = try GateProcess(in: place, replays: store, options + ["--report-only"])
            let verify = "/v1/verify?requestor=MML&resource=TNT"
            let tokens = try place.tokens(3)
            func said(_ gate: GateProcess, _ token: String, _ target: String = verify) throws -> String {
                let outcome = try run(client, "http://127.0.0.1:\(gate.port)\(target)", token)
                #expect(outcome.status == (outcome.output.hasPrefix("allowed ") ? 0 : 1), "\(outcome)")
                return outcome.output
            }
            #expect(try said(gate, tokens[0]) == "allowed VALID_TOKEN\n")
            #expect(try said(gate, tokens[0]) == "refused TOKEN_ALREADY_USED: \(Self.again)")
            #expect(try said(reporting, tokens[0]) == "allowed REPORT_ONLY\n")
            #expect(try said(gate, tokens[1], "/v1/play?url=/live/index.m3u8") == "allowed VALID_TOKEN\n")
            #expect(try said(gate, "nonsense").hasPrefix("refused INVALID_TOKEN_FORMAT: show an error"))
            redis.end(SIGKILL)
            #expect(try said(gate, tokens[2]) == "refused ERROR_UNKNOWN: wait, then fetch a new token\n")
        }

        @Test(
            "each takes no answer of another server for a yes, and none at all for a no in time",
            arguments: Client.allCases)
        func others(client: Client) throws {
            try paste(client)
            let ports = try FreePort.take(1)
            let server = try Daemon(
                "python3", [Fixtures.package.appending(path: "Tests/HTTPInterface/strangers").path, "\(ports[0])"],
                log: folder.path + "/strangers.log")
            defer { server.end(SIGKILL) }
            try server.wait { try server.printed().contains("listening") }
            for path in ["page", "redirect", "silence", "reset"] {
                let start = ContinuousClock.now
                let outcome = try run(client, "http://127.0.0.1:\(ports[0])/\(path)?x=y", "token")
                #expect(
                    outcome.status == 1 && outcome.output == "refused ERROR_UNKNOWN: \(Self.again)",
                    "\(path): \(outcome)")
                #expect(ContinuousClock.now - start < Program.patience, "\(path)")
            }
            let closed = try run(client, "http://127.0.0.1:1/x?y=z", "token")
            #expect(closed.output == "refused ERROR_UNKNOWN: \(Self.again)")
        }
    }
}
