import MediaToken
import RedisSchedules
import Testing

@testable import ReplayRedis

/// One store's rounds, with a test in the place of its servers.
private final class Script {
    private var rounds: RedisRounds
    private(set) var links: [RedisLink] = []
    private(set) var closed: [RedisLink] = []
    /// The commands that each connection has got and that are not answered.
    private var unanswered: [RedisLink: [RedisCommand]] = [:]
    private(set) var answers: [Result<ReplayAnswer, ReplayStoreError>] = []
    private(set) var opened: Result<[RedisReply], ReplayStoreError>?
    private let start = ContinuousClock.now
    private var milliseconds = 0
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    init(_ url: String = "redis://one:1") throws {
        rounds = RedisRounds(try RedisConfiguration.exact(url))
    }

    var moment: RedisMoment {
        RedisMoment(
            instant: start + .milliseconds(milliseconds),
            time: Self.now.advanced(byMilliseconds: Int64(milliseconds)))
    }

    static func claim(_ number: UInt64, in shard: Int = 0, fingerprint: RetryFingerprint? = nil) -> ReplayClaim {
        ReplayClaim(
            key: ReplayKey(words: (UInt64(shard) << 56, number, number, number)), issued: now,
            until: now.advanced(byMilliseconds: 420_000), fingerprint: fingerprint)
    }

    func claim(_ numbers: UInt64...) {
        _ = rounds.claim(numbers.map { Self.claim($0) }, at: Self.now, moment)
        carryOut()
    }

    /// Claims one key of each shard, in one group.
    func claim(inShards shards: [Int]) {
        _ = rounds.claim(shards.map { Self.claim(1, in: $0) }, at: Self.now, moment)
        carryOut()
    }

    /// A reply to no command.
    func say(_ reply: RedisReply, _ link: RedisLink) {
        rounds.received([reply], on: link, moment)
        carryOut()
    }

    func open() {
        _ = rounds.open(at: Self.now, moment)
        carryOut()
    }

    func pass(_ milliseconds: Int) {
        self.milliseconds += milliseconds
        rounds.elapsed(moment)
        carryOut()
    }

    func end(_ link: RedisLink, _ reason: String = "closed the connection") {
        unanswered[link] = nil
        rounds.ended(link, .unavailable("\(link.address) \(reason)"), moment)
        carryOut()
    }

    /// What is sent to a connection and not answered, by the first word of each command.
    func sent(_ link: RedisLink) -> [String] { (unanswered[link] ?? []).compactMap(\.first) }

    /// Answers the next `count` commands of a connection.
    func answer(_ link: RedisLink, first count: Int = .max, by reply: (RedisCommand) -> RedisReply) {
        let commands = (unanswered[link] ?? []).prefix(count)
        unanswered[link]?.removeFirst(commands.count)
        rounds.received(commands.map(reply), on: link, moment)
        carryOut()
    }

    private func carryOut() {
        while let action = rounds.nextAction() {
            switch action {
            case .connect(let link): links.append(link)
            case .send(let commands, let link): unanswered[link, default: []] += commands
            case .close(let link):
                unanswered[link] = nil
                closed.append(link)
            case .answer(_, let answers): self.answers += answers
            case .conclude(_, let outcome): opened = outcome
            }
        }
    }
}

/// A server that keeps nothing on its disk, as it answers by default.
private struct Server {
    var run = "r1"
    var evicted = 0
    var received = 0
    var policy = "noeviction"
    var time = Script.now
    var isDurable = false
    var marker: RedisReply = .text("1799999000000 r1 volatile unconfirmed 0,0,-")
    var claim: RedisReply = .text("OK")
    var replicas: Int64 = 0
    var processed = 0

    func reply(to command: RedisCommand) -> RedisReply {
        switch command[0] {
        case "INFO": command.last == "commandstats" ? .text("") : .text(info)
        case "CONFIG":
            .array(
                ["appendfsync", isDurable ? "always" : "everysec", "no-appendfsync-on-rewrite", "no"].map { .text($0) })
        case "TIME": .array([.text("\(time.milliseconds / 1000)"), .text("0")])
        case "GET": marker
        case "SET": claim
        case "WAIT": .integer(replicas)
        // The number of replicas, by the table of a cluster's node.
        case "EVAL" where command[2] == "0": .integer(replicas)
        default: .text("OK")
        }
    }

    private var info: String {
        "redis_version:7.2.4\r\nrun_id:\(run)\r\nmaxmemory_policy:\(policy)\r\nevicted_keys:\(evicted)\r\n"
            + "total_net_repl_input_bytes:\(received)\r\naof_enabled:\(isDurable ? 1 : 0)\r\naof_rewrites:0\r\n"
            + "aof_rewrite_in_progress:0\r\ntotal_commands_processed:\(processed)\r\nrole:master\r\n"
    }
}

@Suite("The Redis store's rounds, without a server")
struct RedisRoundsTests {
    private let server = Server()

    /// A script whose first server has been greeted.
    private func greeted(_ url: String = "redis://one:1", _ server: Server = Server()) throws -> Script {
        let script = try Script(url)
        script.claim(999)
        script.answer(script.links[0], by: server.reply)
        script.answer(script.links[0], by: server.reply)
        try #require(script.answers.count == 1)
        return script
    }

    /// A script of a cluster of one node, which has answered a claim.
    private func greeted(cluster url: String, _ server: Server) throws -> Script {
        let script = try Script(url)
        var fresh = server
        (fresh.marker, fresh.replicas) = (.text("1799999000000 r1 volatile unconfirmed 0,0,-"), 0)
        script.claim(999)
        for _ in 0..<3 {
            script.answer(script.links[0]) { Self.reply(of: fresh, to: $0) }
        }
        try #require(script.answers.count == 1)
        return script
    }

    /// The reply of a cluster's only node.
    private static func reply(of server: Server, to command: RedisCommand) -> RedisReply {
        guard command[0] == "CLUSTER" else { return server.reply(to: command) }
        return .array([.array([.integer(0), .integer(16383), .array([.text("one"), .integer(1)])])])
    }

    private func error(_ script: Script, _ position: Int) -> String {
        guard script.answers.indices.contains(position), case .failure(let error) = script.answers[position] else {
            return "no error"
        }
        return "\(error)"
    }

    @Test("nothing but the greeting is sent before the server is known, and the claim comes before its marker")
    func order() throws {
        let script = try Script()
        script.claim(1)
        #expect(script.sent(script.links[0]) == ["INFO", "CONFIG", "INFO"])
        script.answer(script.links[0], by: server.reply)
        #expect(script.sent(script.links[0]) == ["SET", "GET", "INFO", "CONFIG", "INFO", "TIME"])
        script.answer(script.links[0], by: server.reply)
        #expect(try script.answers.map { try $0.get() } == [.first])
    }

    @Test("an answer that is lost at any point of a round is not asked for again", arguments: 0..<6)
    func lost(count: Int) throws {
        let script = try greeted()
        script.claim(1)
        script.answer(script.links[0], first: count, by: server.reply)
        script.end(script.links[0])
        #expect(error(script, 1).contains("an answer is lost, so its token may count as used"))
        #expect(script.links.count == 1)
    }

    @Test("a lost answer to one group is not taken for another's, and the next one has a connection of its own")
    func lostBetween() throws {
        let script = try greeted()
        script.claim(1)
        script.claim(2)
        script.answer(script.links[0], first: 6, by: server.reply)
        #expect(script.answers.count == 2)
        script.end(script.links[0])
        #expect(error(script, 2).contains("an answer is lost"))
        script.claim(3)
        script.answer(script.links[1], by: server.reply)
        script.answer(script.links[1], by: server.reply)
        #expect(try script.answers[3].get() == .first)
    }

    @Test("a marker of another run or form, or none, is set anew before the claim is answered, and fences it")
    func otherRun() throws {
        for marker in [
            .text("1799999000000 r0 volatile unconfirmed 0,0,-"), .text("1799999000000 r1 volatile unconfirmed"), .null,
            .text("nonsense"),
        ] as [RedisReply] {
            let script = try greeted()
            script.claim(1)
            var server = server
            server.marker = marker
            script.answer(script.links[0], by: server.reply)
            #expect(script.sent(script.links[0]) == ["GET", "INFO", "CONFIG", "INFO", "TIME"])
            script.answer(script.links[0], by: server.reply)
            #expect(script.sent(script.links[0]) == ["EVAL"])
            script.answer(script.links[0]) { command in
                server.marker = .text(command[5] + " " + command[6])
                #expect(command[4] == marker.text ?? "")
                return .text("OK")
            }
            #expect(script.answers.count == 1)
            script.answer(script.links[0], by: server.reply)
            #expect(try script.answers[1].get() == .predatesStore(since: Script.now))
        }
    }

    /// A script that has greeted its server and claims a token, whose marker another client has changed meanwhile.
    private func changed() throws -> Script {
        let script = try greeted()
        script.claim(1)
        var server = server
        server.marker = .null
        for _ in 0..<2 { script.answer(script.links[0], by: server.reply) }
        script.answer(script.links[0]) { _ in .text("changed") }
        return script
    }

    @Test("a marker that another client has changed meanwhile is read again")
    func changedMeanwhile() throws {
        let script = try changed()
        #expect(script.sent(script.links[0]).first == "GET")
        script.answer(script.links[0], by: Server().reply)
        #expect(try script.answers[1].get() == .first)
    }

    @Test("a claim whose marker was changed and cannot be read again is not made a second time")
    func changedAndLost() throws {
        let script = try changed()
        script.end(script.links[0])
        #expect(script.links.count == 1 && error(script, 1).contains("an answer is lost"), "\(error(script, 1))")
    }

    @Test(
        "what makes a server unfit at any time makes its claims undecided",
        arguments: ["set it to noeviction", "s ahead of ours", "1 of 2 replicas confirmed"])
    func unfit(expected: String) throws {
        var server = server
        server.replicas = 2
        let script = try greeted("redis://one:1?wait=2", server)
        switch expected {
        case "set it to noeviction": server.policy = "allkeys-lru"
        case "s ahead of ours": server.time = Script.now.advanced(byMilliseconds: 400_000)
        default: server.replicas = 1
        }
        script.claim(1)
        script.answer(script.links[0], by: server.reply)
        #expect(error(script, 1).contains(expected), "\(error(script, 1))")
        server.claim = .null
        script.claim(1)
        script.answer(script.links[0], by: server.reply)
        #expect(try script.answers[2].get() == .alreadyUsed)
    }

    @Test("keys that were evicted between two claims move the fence, even if no claim is open to doubt")
    func evicted() throws {
        let script = try greeted()
        script.claim(1)
        var server = server
        (server.evicted, server.claim) = (3, .null)
        script.answer(script.links[0], by: server.reply)
        script.answer(script.links[0], by: server.reply)
        #expect(script.sent(script.links[0]) == ["EVAL"])
        script.answer(script.links[0]) { command in
            #expect(command[6] == "r1 volatile unconfirmed 3,0,-")
            return .text("OK")
        }
        #expect(try script.answers[1].get() == .alreadyUsed)
    }

    @Test("each claim is answered by its deadline, whatever was being waited for, and the silent server is left alone")
    func deadlines() throws {
        let script = try Script()
        script.claim(1)
        script.pass(249)
        #expect(script.answers.isEmpty)
        script.claim(2)
        script.pass(1)
        #expect(error(script, 0).contains("did not answer within 250 ms") && script.answers.count == 2)
        script.claim(3)
        #expect(error(script, 2).contains("did not answer") && script.links.count == 1)
        script.pass(20)
        script.claim(4)
        #expect(script.links.count == 2)
        script.answer(script.links[0], by: server.reply)
        #expect(script.answers.count == 3)
        script.answer(script.links[1], by: server.reply)
        script.answer(script.links[1], first: 3, by: server.reply)
        script.pass(250)
        #expect(error(script, 3).contains("redis://one:1 did not answer"))
    }

    @Test("a cluster's MOVED and ASK are followed, each once, and a loop ends")
    func redirections() throws {
        func error(_ line: String) -> RedisReply { .error(RedisErrorReply(line: line)) }
        var owner = Server()
        owner.isDurable = true
        owner.marker = .text("1799999000000 r1 kept confirmed 0,0,-")
        let script = try Script("redis://one:1?cluster=true")
        script.claim(1)
        let slot = RedisShard(number: 0).slot
        func reply(_ command: RedisCommand) -> RedisReply { Self.reply(of: owner, to: command) }
        script.answer(script.links[0], by: reply)
        script.answer(script.links[0], by: reply)
        // The owner has begun to give the slot away: the key may be there, the marker is still here.
        script.answer(script.links[0]) { $0[0] == "SET" ? error("ASK \(slot) two:2") : reply($0) }
        script.answer(script.links[1], by: reply)
        #expect(script.sent(script.links[1]).prefix(2) == ["ASKING", "SET"])
        script.answer(script.links[1], by: reply)
        #expect(script.sent(script.links[0]).first == "GET")
        // Then it has given it away.
        script.answer(script.links[0]) { ["GET", "SET"].contains($0[0]) ? error("MOVED \(slot) two:2") : reply($0) }
        #expect(script.sent(script.links[1]).first == "GET")
        script.answer(script.links[1], by: reply)
        #expect(try script.answers.map { try $0.get() } == [.first])
        script.claim(2)
        for _ in 0..<20 {
            for link in script.links.reversed() {
                script.answer(link) {
                    $0[0] == "SET" ? error("MOVED \(slot) \(link.address.port == 1 ? "two:2" : "one:1")") : reply($0)
                }
            }
        }
        #expect(self.error(script, 1).contains("send claims from node to node"))
    }

    @Test("a group whose nodes are all out of reach waits for the search that finds their successors")
    func search() throws {
        var owner = Server()
        owner.isDurable = true
        owner.marker = .text("1799999000000 r1 kept confirmed 0,0,-")
        var hosts = ["two", "three"]
        func reply(_ command: RedisCommand) -> RedisReply {
            guard command[0] == "CLUSTER" else { return owner.reply(to: command) }
            let ranges = [(0, 8191, hosts[0]), (8192, 16383, hosts[1])] as [(Int64, Int64, String)]
            return .array(
                ranges.map { .array([.integer($0), .integer($1), .array([.text($2), .integer(1)])]) })
        }
        let script = try Script("redis://one:1?cluster=true")
        let halves = [0, 8192].map { start in
            (0..<256).first { (start..<start + 8192).contains(RedisShard(number: $0).slot) } ?? 0
        }
        script.claim(inShards: halves)
        for _ in 0..<2 { script.answer(script.links[0], by: reply) }
        try #require(script.links.map(\.address.host) == ["one", "two", "three"])
        for link in script.links[1...] { script.end(link, "cannot be reached") }
        #expect([0, 1].map { error(script, $0).contains("cannot be reached") } == [true, true])

        // Both are left alone for a moment now.
        script.claim(inShards: halves)
        #expect(script.answers.count == 2 && script.sent(script.links[0]) == ["CLUSTER"])
        hosts = ["four", "five"]
        script.answer(script.links[0], by: reply)
        try #require(script.links[3...].map(\.address.host) == ["four", "five"])
        for link in script.links[3...] { for _ in 0..<2 { script.answer(link, by: reply) } }
        #expect(try script.answers[2...].map { try $0.get() } == [.first, .first])
    }

    @Test("a connection with a reply to no command is given up")
    func surplus() throws {
        let script = try greeted()
        script.say(.text("OK"), script.links[0])
        try #require(script.closed == script.links)
        script.pass(400)
        script.claim(1)
        for _ in 0..<2 { script.answer(script.links[1], by: server.reply) }
        #expect(try script.answers[1...].map { try $0.get() } == [.first])
    }

    @Test("a claim is decided at its second look, however slow a server is that has carried out many commands")
    func slowReplies() throws {
        let script = try Script("redis://one:1?timeout=20000")
        // So many commands vouch for 180 ms that the counts were not set back. Two exchanges take 200.
        var server = Server(processed: 1_800_000)
        script.claim(1)
        var exchanges = 0
        while script.answers.isEmpty, exchanges < 20 {
            script.pass(100)
            server.processed += 10
            script.answer(script.links[0]) { server.reply(to: $0) }
            exchanges += 1
        }
        #expect(try script.answers.map { try $0.get() } == [.first])
        // The greeting, the claim, the look at the marker, and the claim's marker again.
        #expect(exchanges == 4)
    }

    @Test("a server that is about to get a slot and could lose it takes no claim for it")
    func untrustedAsk() throws {
        let script = try Script("redis://one:1?cluster=true")
        script.claim(1)
        func reply(_ command: RedisCommand) -> RedisReply { Self.reply(of: server, to: command) }
        script.answer(script.links[0], by: reply)
        script.answer(script.links[0], by: reply)
        let ask = RedisErrorReply(line: "ASK \(RedisShard(number: 0).slot) two:2")
        script.answer(script.links[0]) { $0[0] == "SET" ? .error(ask) : reply($0) }
        for _ in 0..<4 {
            for link in script.links {
                #expect(!script.sent(script.links.last ?? link).contains("ASKING"))
                script.answer(link) { $0[0] == "SET" ? .error(ask) : reply($0) }
            }
        }
        #expect(error(script, 0).contains("a slot is being moved to redis://two:2"))
    }

    @Test("a server that may forget and says that a key is elsewhere is not believed")
    func askByDoubtful() throws {
        let script = try greeted(cluster: "redis://one:1?cluster=true", server)
        script.claim(1)
        var evicting = server
        evicting.policy = "allkeys-lru"
        let ask = RedisErrorReply(line: "ASK \(RedisShard(number: 0).slot) two:2")
        script.answer(script.links[0]) { $0[0] == "SET" ? .error(ask) : Self.reply(of: evicting, to: $0) }
        #expect(script.links.count == 1 && error(script, 1).contains("set it to noeviction"), "\(error(script, 1))")
    }

    @Test("a statement of durability counts only for a server whose settings nobody may read")
    func stated() throws {
        let denied = RedisReply.error(RedisErrorReply(line: "NOPERM no permissions to run the 'config|get' command"))
        for (statement, settings, isBelieved) in [
            ("?durable=server", denied, true), ("", denied, false), ("?durable=server", nil, false),
        ] as [(String, RedisReply?, Bool)] {
            var server = server
            // Another run of the server, which took over from a primary.
            (server.run, server.received) = ("r2", 100)
            server.marker = .text("1799999000000 r1 \(isBelieved ? "kept" : "volatile") unconfirmed 0,0,-")
            func reply(_ command: RedisCommand) -> RedisReply {
                command[0] == "CONFIG" ? settings ?? server.reply(to: command) : server.reply(to: command)
            }
            let script = try Script("redis://one:1" + statement)
            script.claim(1)
            for _ in 0..<3 { script.answer(script.links[0], by: reply) }
            script.answer(script.links[0]) { command in
                server.marker = .text(command[5] + " " + command[6])
                return .text("OK")
            }
            script.answer(script.links[0], by: reply)
            let answer = try #require(script.answers.first).get()
            #expect((answer == .first) == isBelieved, "\(statement): \(answer)")
        }
    }

    // MARK: Replicas

    /// A cluster's node that has a replica.
    private static func node(marker: String = "1799999000000 r1 volatile confirmed 0,0,-") -> Server {
        var server = Server()
        (server.replicas, server.marker) = (1, .text(marker))
        return server
    }

    @Test("in a cluster claims wait for a replica unless the URL says otherwise, and on a single server they do not")
    func defaultWait() throws {
        for (url, waits) in [
            ("redis://one:1?cluster=true", true), ("redis://one:1?cluster=true&wait=0", false),
            ("redis://one:1", false),
            ("redis://one:1?wait=1", true),
        ] {
            let server = Self.node(
                marker:
                    "1799999000000 r1 volatile \(url.contains("cluster") && waits ? "confirmed" : "unconfirmed") 0,0,-")
            func reply(_ command: RedisCommand) -> RedisReply { Self.reply(of: server, to: command) }
            let script = try Script(url)
            script.claim(1)
            script.answer(script.links[0], by: reply)
            if url.contains("cluster") { script.answer(script.links[0], by: reply) }
            #expect((script.sent(script.links[0]).last == "WAIT") == waits, "\(url)")
            script.answer(script.links[0], by: reply)
            #expect(try script.answers.map { try $0.get() } == [.first], "\(url)")
        }
    }

    @Test("a replica that joined since the last flush makes its claims undecided, as none waited for it")
    func replicaJoined() throws {
        var server = Self.node()
        server.replicas = 0
        func reply(_ command: RedisCommand) -> RedisReply { Self.reply(of: server, to: command) }
        let script = try Script("redis://one:1?cluster=true")
        script.claim(1)
        for _ in 0..<3 { script.answer(script.links[0], by: reply) }
        #expect(try script.answers.map { try $0.get() } == [.first])
        server.replicas = 1
        script.claim(2)
        #expect(script.sent(script.links[0]).last == "TIME")
        script.answer(script.links[0], by: reply)
        #expect(error(script, 1).contains("got a replica that has not confirmed this claim"))
        script.claim(3)
        #expect(script.sent(script.links[0]).last == "WAIT")
        script.answer(script.links[0], by: reply)
        #expect(try script.answers[2].get() == .first)
    }

    @Test("a claim finds a free connection while others wait for replicas, and what finds none joins the next flush")
    func joinedFlushes() throws {
        let server = Self.node(marker: "1799999000000 r1 volatile unconfirmed 0,0,-")
        let script = try greeted("redis://one:1?wait=1", server)
        script.claim(1)
        // Each claim on its way has made one more connection, up to four.
        for number in 2...5 as ClosedRange<UInt64> {
            script.claim(number)
            if let link = script.links.last, script.sent(link).first == "INFO" { script.answer(link, by: server.reply) }
        }
        #expect(script.links.count == 4)
        #expect(script.links.map { script.sent($0).first } == ["SET", "SET", "SET", "SET"])
        for number in 6...9 as ClosedRange<UInt64> { script.claim(number) }
        script.answer(script.links[2], by: server.reply)
        // Five claims, their marker once, and one WAIT.
        #expect(script.sent(script.links[2]).filter { $0 == "SET" }.count == 5)
        #expect(script.sent(script.links[2]).filter { ["GET", "WAIT"].contains($0) } == ["GET", "WAIT"])
        for link in script.links { script.answer(link, by: server.reply) }
        #expect(try script.answers.map { try $0.get() } == Array(repeating: .first, count: 10))
    }

    @Test("a claim that cannot be confirmed in time any more is not sent, and says so")
    func unsent() throws {
        let server = Self.node(marker: "1799999000000 r1 volatile unconfirmed 0,0,-")
        let script = try greeted("redis://one:1?wait=1", server)
        for number in 1...4 as ClosedRange<UInt64> {
            script.claim(number)
            if let link = script.links.last, script.sent(link).first == "INFO" { script.answer(link, by: server.reply) }
        }
        #expect(script.links.count == 4)
        script.claim(5)
        // Replicas take 100 ms, and the claim that waits has 150 left, of which the server gets half.
        script.pass(100)
        script.answer(script.links[0], by: server.reply)
        #expect(script.sent(script.links[0]).isEmpty)
        let errors = script.answers.indices.map { error(script, $0) }.filter { $0 != "no error" }
        #expect(script.answers.count == 3 && errors.count == 1)
        let reason = try #require(errors.first)
        #expect(reason.contains("takes 100 ms to confirm claims, longer than was left"), "\(reason)")
        #expect(reason.contains("is not consumed"))
    }

    @Test("that claims are not confirmed by all any more is known to all replicas before a claim is answered")
    func withdrawal() throws {
        let server = Self.node()
        let script = try greeted(cluster: "redis://one:1?cluster=true&wait=0", server)
        var markers: [String: String] = [:]
        func reply(_ command: RedisCommand) -> RedisReply {
            switch command[0] {
            case "GET": return markers[command[1]].map { .text($0) } ?? server.marker
            case "EVAL" where command[2] == "1":
                #expect(command[4] == markers[command[3]] ?? server.marker.text)
                markers[command[3]] = command[5] + " " + command[6]
                return .text(command[5] + " " + command[6])
            default: return server.reply(to: command)
            }
        }
        func sent() -> Set<String> { Set(script.sent(script.links[0])) }
        func written() -> Set<Substring> { Set(markers.values.map { $0.split(separator: " ")[3] }) }
        // The replica does not get it.
        script.claim(1)
        for _ in 0..<2 { script.answer(script.links[0], by: reply) }
        #expect(sent() == ["EVAL", "WAIT"])
        script.answer(script.links[0]) { $0[0] == "WAIT" ? .integer(0) : reply($0) }
        #expect(written() == ["withdrawn"])
        #expect(error(script, 1).contains("0 of 1 replicas confirmed"))
        // Nor does a later claim count before it does.
        script.claim(2)
        for _ in 0..<2 { script.answer(script.links[0], by: reply) }
        #expect(sent() == ["EVAL", "WAIT"])
        script.answer(script.links[0], by: reply)
        #expect(sent() == ["EVAL"] && script.answers.count == 2)
        script.answer(script.links[0], by: reply)
        #expect(written() == ["unconfirmed"])
        script.answer(script.links[0], by: reply)
        #expect(try script.answers.last?.get() == .first && script.answers.count == 3)
    }

    @Test("a replica that has taken over is believed only under a marker that says confirmed, and is fenced for longer")
    func takenOver() throws {
        for (confirmation, isBelieved) in [("confirmed", true), ("withdrawn", false), ("unconfirmed", false)] {
            var server = Self.node(marker: "1799999000000 r0 volatile \(confirmation) 0,0,-")
            server.received = 100
            func reply(_ command: RedisCommand) -> RedisReply { Self.reply(of: server, to: command) }
            let script = try Script("redis://one:1?cluster=true")
            script.claim(1)
            for _ in 0..<4 { script.answer(script.links[0], by: reply) }
            var since: Int64 = 0
            script.answer(script.links[0]) { command in
                since = Int64(command[5]) ?? 0
                server.marker = .text(command[5] + " " + command[6])
                return .text("OK")
            }
            script.answer(script.links[0], by: reply)
            // Half of the node timeout of 15 s, and a second.
            #expect(since == (isBelieved ? 1_799_999_000_000 : Script.now.milliseconds + 8500), "\(confirmation)")
            #expect((try script.answers.first?.get() == .first) == isBelieved)
        }
    }

    @Test("opening tells what is wrong with a server, and sets the markers that are missing")
    func open() throws {
        let script = try Script()
        script.open()
        var server = server
        server.marker = .null
        for _ in 0..<2 { script.answer(script.links[0], by: server.reply) }
        #expect(script.sent(script.links[0]) == ["EVAL"])
        script.answer(script.links[0]) { _ in .text("OK") }
        #expect(try script.opened?.get() == [])
        server.policy = "volatile-ttl"
        script.open()
        script.answer(script.links[0], by: server.reply)
        script.answer(script.links[0]) { _ in .text("OK") }
        #expect(throws: ReplayStoreError.self) { try script.opened?.get() }
    }
}
