import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What an operator is told when something goes wrong, and what goes on all the same.
    @Suite("A bad day")
    struct BadDayTests {
        private let place = GateDestination()

        /// Starts a program as the journal does, so that lines say how grave they are.
        private static let journal = [
            "sh", "-c", #"JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr) exec "$@""#, "sh",
        ]

        private static func stream(_ path: String) -> String {
            "GET /v1/authz/forward-auth HTTP/1.1\r\nHost: gate\r\nX-Forwarded-Uri: \(path)\r\n\r\n"
        }

        @Test("a store that is lost is one grave line, its return another; grants and open routes are served meanwhile")
        func lostStore() throws {
            let redis = try RedisServer()
            let notify = try DatagramSocket(path: place.directory.path + "/notify")
            let settings = try place.options(
                #"{"routes": [{"path": "/free", "open": true}, \#(try place.route("/live"))]}"#)
            let gate = try GateProcess(
                in: place, replays: redis.url, settings,
                launcher: ["env", "NOTIFY_SOCKET=\(place.directory.path)/notify"] + Self.journal)
            #expect(notify.receive() == "READY=1")
            #expect(notify.receive() == "STATUS=serving: 1 key, 2 routes")
            try gate.wait { try gate.admin("/readyz") == "ready\n200" }
            #expect(
                try gate.logged().contains(
                    try Regex(
                        "\n<4>media-token: warning: replays: a restart of redis://127.0.0.1:[0-9]+ makes it forget")))
            redis.end(SIGKILL)
            try gate.wait {
                try gate.logged().contains(
                    "\n<3>media-token: a token cannot be checked, and is not accepted: the replay store")
            }
            #expect(try gate.admin("/readyz").hasSuffix("\n503"))
            #expect(try gate.admin("/readyz/streams") == "ready\n200")
            #expect(try gate.status(Self.stream("/free/1.ts")) == 200)
            #expect(try gate.verify(try place.tokens(1)[0]) == 503)
            let status = notify.receive()
            #expect(
                status?.hasPrefix("STATUS=serving: 1 key, 2 routes; a token cannot be checked, and is not accepted: ")
                    == true, "\(status ?? "")")
            try redis.start()
            try gate.wait { try gate.logged().contains("\n<5>media-token: the replay store works again\n") }
            try gate.wait {
                try gate.logged().contains(
                    try Regex("\n<4>media-token: fenced until .*: the replay store is new, or its"))
            }
            #expect(notify.receive() == "STATUS=serving: 1 key, 2 routes")
            #expect(try gate.logged().components(separatedBy: "a token cannot be checked").count == 2)
            gate.end()
            #expect(try gate.logged().contains("\n<5>media-token: stopping: "))
        }

        @Test("a claim that fails is told at once, also where nobody asks /readyz")
        func failedClaim() throws {
            let redis = try RedisServer()
            let gate = try GateProcess(in: place, replays: redis.url, ["--skew", "0"])
            redis.end(SIGKILL)
            #expect(try gate.verify(try place.tokens(1)[0]) == 503)
            #expect(try gate.verify(try place.tokens(1)[0]) == 503)
            try gate.wait { try gate.logged().contains("a token cannot be checked, and is not accepted: ") }
            gate.end()
            #expect(
                try gate.logged().components(separatedBy: "a token cannot be checked, and is not accepted: ").count == 2
            )
        }

        @Test("a reload that is refused is grave, and stays in the status until one takes effect")
        func refusedReload() throws {
            let file = try place.directory.write(#"{"routes": []}"#, to: "gate.json")
            let notify = try DatagramSocket(path: place.directory.path + "/notify")
            let gate = try GateProcess(
                in: place, ["--config", file],
                launcher: ["env", "NOTIFY_SOCKET=\(place.directory.path)/notify"] + Self.journal)
            let begin = [notify.receive(), notify.receive()]
            #expect(begin.last == "STATUS=serving: 1 key, 0 routes")
            try place.directory.write(#"{"routes": ]}"#, to: "gate.json")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("\n<3>media-token: reload failed, configuration unchanged: ") }
            _ = notify.receive()
            #expect(notify.receive()?.contains("0 routes; reload failed, configuration unchanged: ") == true)
            #expect(notify.receive() == "READY=1")
            try place.directory.write(#"{"routes": [{"path": "/a", "open": true}]}"#, to: "gate.json")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("\n<5>media-token: reloaded: 1 key, 1 route; ") }
            _ = notify.receive()
            let after = [notify.receive(), notify.receive()]
            #expect(after.contains("STATUS=serving: 1 key, 1 route"), "\(after)")
        }

        @Test(
            "what only an operator can repair ends with 64, which the unit does not try again, and the rest with 2",
            arguments: [
                (#"{"routes": ]}"#, 64), (#"{"workers": 0}"#, 64), (#"{"keys": ["gone.pem"]}"#, 64),
                (#"{"tls-certificate": "gone", "tls-key": "gone"}"#, 64), (#"{"viewer-key-file": "/dev/null"}"#, 64),
                (#"{"replays": "redis://127.0.0.1:1"}"#, 2), (#"{"listen": "192.0.2.1:80"}"#, 2),
            ])
        func endStatus(settings: String, status: Int32) throws {
            let keys = settings.contains("keys") ? [] : ["--keys", place.key]
            let file = try place.directory.write(settings, to: "gate.json")
            let free = ["--admin", "127.0.0.1:0"] + (settings.contains("listen") ? [] : ["--listen", "127.0.0.1:0"])
            let store = settings.contains("replays") ? [] : ["--replays", "memory"]
            let outcome = try Program.mediaToken.run(["serve", "--config", file] + keys + free + store)
            #expect(outcome.status == status, "\(outcome.errors)")
            #expect(outcome.errors.hasPrefix("media-token: "))
        }

        @Test("health asks the gate of a settings file, and says by its status whether it is ready")
        func health() throws {
            let gate = try GateProcess(in: place, ["--skew", "300"])
            let file = try place.directory.write(#"{"admin": "0.0.0.0:\#(gate.adminPort)"}"#, to: "gate.json")
            let fenced = try Program.mediaToken.run(["health", "--config", file])
            #expect(fenced.status == 1 && fenced.output.hasPrefix("fenced, "), "\(fenced.errors)")
            let streams = try Program.mediaToken.run(["health", "--streams", "--admin", "127.0.0.1:\(gate.adminPort)"])
            #expect(streams.status == 0 && streams.output == "ready\n")
            gate.end()
            let gone = try Program.mediaToken.run(["health", "--config", file])
            #expect(gone.status == 2 && gone.errors.contains("no answer"))
            #expect(try Program.mediaToken.run(["health", "--admin", "unix:/x"]).status == 2)
        }

        @Test("a viewer has one pseudonym in accepted and refused lines, by requestor, MVPD and the operator's secret")
        func viewers() throws {
            func logged(_ secret: Character) throws -> [String] {
                let file = try place.directory.write(String(repeating: secret, count: 32), to: "viewer.key")
                let gate = try GateProcess(in: place, GateDestination.strict + ["--viewer-key-file", file])
                let tokens = try place.tokens(2)
                for token in [tokens[0], tokens[0], tokens[1], String(tokens[1].dropLast(40))] {
                    _ = try gate.verify(token)
                }
                gate.end()
                // Each worker writes its own lines, so they do not come in the order of the requests.
                return try gate.logged().matches(of: /"viewer":"([0-9a-f]{16})"/).map { String($0.1) }.sorted()
            }
            let (first, second) = (try logged("a"), try logged("b"))
            #expect(first.count == 3 && Set(first).count == 2, "\(first)")
            #expect(second.count == 3 && Set(first).isDisjoint(with: second))
        }
    }
}
