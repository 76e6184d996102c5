import Foundation
import TestSupport
import Testing

@Suite("media-token replays, and the stores of verify")
struct ReplaysCommandTests {
    private let keys = KeyPair()

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test("a token that one run used up is used up for the next, by way of a store", arguments: ["lmdb", "redis"])
    func replays(kind: String) throws {
        let server = kind == "redis" ? try RedisServer() : nil
        let url = server.map { $0.url + "?timeout=5000" } ?? "lmdb:\(keys.directory.path)/replays"
        let common = [
            "verify", "--key", keys.open, "--requestor", "MML", "--resource", "TNT", "--replays", url, "--skew", "0",
        ]
        let issue = ["issue", "--signing-key", keys.secret, "--requestor", "MML", "--resource", "TNT"]
        let early = try run(issue).output
        #expect(try run(common, input: early).output.hasPrefix("TOKEN_PREDATES_STORE\n"))
        // Issue times have seconds: one that is later than the store's beginning is so in the next second.
        usleep(1_100_000)
        let token = try run(issue).output
        let other = try run(issue + ["--mvpd", "Other"]).output
        let lookup = ["replays", "lookup", url]
        #expect(try run(lookup, input: token).status == 0)
        let first = try run(common, input: token)
        #expect(first.status == 0)
        #expect(first.errors.split(separator: "\n").count == 1 && first.errors.contains("replays lookup"))
        let second = try run(common, input: token)
        #expect(second.status == 1)
        #expect(second.output.hasPrefix("TOKEN_ALREADY_USED\n"))

        let id = try #require(second.output.firstMatch(of: /token +([0-9a-f]{16})\n/)).1
        let used = try run(lookup + [token])
        #expect(used.status == 1 && used.errors.isEmpty)
        #expect(used.output.contains("token       \(id)\n") && used.output.contains("\nused        yes\n"))
        #expect(used.output.contains("first use   not known") && used.output.contains("\nkept until  20"))
        let both = try run(lookup + ["--json"], input: other + token + early)
        #expect(both.status == 1)
        let lines = both.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].contains("\"result\":\"unused\"") && !lines[0].contains("keptUntil"))
        #expect(lines[1].contains("\"result\":\"used\"") && lines[1].contains("\"token\":\"\(id)\""))
        #expect(lines[1].contains("\"keptUntilMilliseconds\":"))
        #expect(lines[2].contains("\"result\":\"predates\"") && lines[2].contains("\"fenceMilliseconds\":"))
        let predates = try run(lookup, input: early)
        #expect(predates.status == 1 && predates.output.contains("only for tokens issued after 20"))
        let unread = try run(lookup, input: "nothing\n" + token)
        #expect(unread.status == 2 && unread.errors.contains("not looked up: it begins with"))
        #expect(unread.output.contains("used        yes"))
        #expect(try run(common, input: other).status == 0)

        let stat = try run(["replays", "stat", url])
        #expect(stat.status == 0)
        // Redis has taken the early one down too, before it came to see its fence.
        let live = kind == "redis" ? 3 : 2
        #expect(stat.output.hasPrefix("live tokens  \(live)\n"))
        let swept = try run(["replays", "sweep", "--json", url])
        #expect(swept.output.contains("\"entries\":\(live)"))
        #expect(try run(common + ["--at", "now"], input: token).status == 64)
        server?.end(SIGKILL)
    }

    @Test("a token is looked up in a store of other processes only, and one that exists")
    func badLookups() throws {
        let issued = try run([
            "issue", "--signing-key", keys.secret, "--requestor", "MML", "--resource", "TNT",
        ])
        let token = issued.output
        for (url, status, text) in [
            ("memory", 64, "its own process only"), ("nonsense:x", 64, "memory, lmdb:PATH"),
            ("lmdb:\(keys.directory.path)/none", 2, "no replay store"),
            ("redis://:hunter2@127.0.0.1:1", 2, "cannot be reached"),
        ] {
            let outcome = try run(["replays", "lookup", url, token])
            #expect(outcome.status == Int32(status) && outcome.errors.contains(text), "\(url): \(outcome.errors)")
            #expect(outcome.output.isEmpty && !outcome.errors.contains("hunter2"))
        }
        #expect(try run(["replays", "lookup"]).status == 64)
        #expect(try run(["replays", "lookup", "lmdb:x", token, token]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: keys.directory.path + "/none"))
    }

    @Test("a store that is none, or cannot be opened, is an error with status 2")
    func badStores() throws {
        let server = try RedisServer()
        let cases = [
            ("lmdb:/nowhere/replays", "no replay store"), (server.url, "no replay store"),
            ("redis://:hunter2@127.0.0.1:1", "redis://127.0.0.1:1 cannot be reached"),
        ]
        for (url, text) in cases {
            let outcome = try run(["replays", "stat", url])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
            #expect(!outcome.errors.contains("hunter2"))
        }
        for (url, text) in [("nonsense:x", "memory, lmdb:PATH"), ("memory", "known to its own process only")] {
            let outcome = try run(["replays", "stat", url])
            #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome.errors)")
        }
        let verified = try run(
            [
                "verify", "--key", keys.open, "--requestor", "A", "--resource", "B", "--replays",
                "lmdb:/nowhere/replays", "x",
            ])
        #expect(verified.status == 2)
        #expect(verified.errors.contains("/nowhere/replays cannot be made: No such file or directory"))
    }
}
