import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A gate whose replay store is new says so, everywhere.
    @Suite("The fence is said aloud")
    struct FenceTests {
        private let place = GateDestination()

        /// The fence of a new store is then five minutes away, longer than a test lasts.
        private static let fenced = ["--skew", "300"]

        @Test("a new gate says until when, is not ready, and refuses with the seconds that are left")
        func newStore() throws {
            let gate = try GateProcess(in: place, Self.fenced)
            let said = try gate.logged()
            let line = try #require(
                said.firstMatch(
                    of: try Regex("fenced until (20[0-9-]{8})T([0-9:]{8}\\.[0-9]{3})Z: .*/readyz answers 503")))
            let until = "\(line[1].substring!) \(line[2].substring!) +0000"
            let ready = try Program("curl").run(["-si", "http://127.0.0.1:\(gate.adminPort)/readyz"]).output
            #expect(ready.hasPrefix("HTTP/1.1 503"))
            #expect(ready.contains(try Regex("\r\nRetry-After: (2[0-9][0-9]|30[01])\r\n")))
            #expect(ready.contains(try Regex("fenced, (2[0-9][0-9]|30[01]) s left")))
            let answer = try Program("curl").run([
                "-si", "-H", "Content-Type: text/plain", "--data-binary", try place.tokens(1)[0],
                "http://127.0.0.1:\(gate.port)/v1/verify?requestor=MML&resource=TNT",
            ]).output
            #expect(answer.hasPrefix("HTTP/1.1 403") && answer.contains("\"code\":\"TOKEN_PREDATES_STORE\""))
            #expect(answer.contains(try Regex("\r\nRetry-After: (2[0-9][0-9]|30[01])\r\n")))
            #expect(answer.contains("only for tokens issued after \(until), so"), "\(answer)")
            #expect(
                try gate.admin("/metrics").contains(
                    try Regex("\nmedia_token_store_fence_timestamp_seconds 1[0-9]{9}(\\.[0-9]{1,3})?\n")))
        }

        @Test("a gate that is told to is ready all the same")
        func told() throws {
            let gate = try GateProcess(in: place, Self.fenced + ["--ready-while-fenced"])
            #expect(try gate.admin("/readyz") == "ready\n200")
            let said = try gate.logged()
            #expect(said.contains("fenced until ") && !said.contains("/readyz answers"))
        }

        @Test(
            "a gate is ready once its store's fence has passed, and so is the next one on that store",
            arguments: [false, true])
        func passes(isRedis: Bool) throws {
            let redis = isRedis ? try RedisServer() : nil
            let url = redis?.url ?? "lmdb:\(place.directory.path)/replays"
            let gate = try GateProcess(in: place, replays: url, ["--skew", "2"])
            #expect(try gate.logged().contains("fenced until "))
            try gate.wait { try gate.admin("/readyz") == "ready\n200" }
            // The store takes a token that is issued then.
            let request = GateProcess.verification(try place.tokens(1)[0])
            let answer = try #require(RawConnection(port: gate.port).ask(request))
            #expect(answer.status == 200 && !answer.headers.contains("Retry-After"))
            let next = try GateProcess(in: place, replays: url, ["--skew", "2"])
            #expect(try next.admin("/readyz") == "ready\n200")
            #expect(try !next.logged().contains("fenced"))
        }

        @Test("a gate whose quorum lacks a server is ready, names the server, and goes on accepting tokens")
        func quorum() throws {
            let quorum = try RedisQuorum()
            let gate = try GateProcess(in: place, replays: quorum.url, ["--skew", "0", "--ready-while-fenced"])
            let name = "redis://127.0.0.1:\(quorum.servers[1].port)"
            let up = "\nmedia_token_store_server_up{server=\"\(name)\"} "
            #expect(try gate.admin("/metrics").contains(up + "1\n"))
            quorum.servers[1].end(SIGKILL)
            try gate.wait { try gate.admin("/metrics").contains(up + "0\n") }
            let readiness = try gate.admin("/readyz")
            #expect(readiness.hasPrefix("ready\nwarning: ") && readiness.contains(name), "\(readiness)")
            try gate.wait { try gate.logged().contains("is away, and the others decide: ") }
            // A token of a later second than that of the fence.
            try gate.wait {
                let request = GateProcess.verification(try place.tokens(1)[0])
                return try RawConnection(port: gate.port).ask(request)?.status == 200
            }
            try quorum.servers[1].start()
            try gate.wait { try gate.admin("/metrics").contains(up + "1\n") }
            try gate.wait { try gate.logged().contains("all servers of the replay store work again") }
            #expect(try gate.logged().components(separatedBy: "is away, and the others decide").count == 2)
        }
    }
}
