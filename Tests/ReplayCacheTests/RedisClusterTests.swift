import Foundation
import MediaToken
import ReplayRedis
import TestSupport
import Testing

extension ReplayCacheTests {
    @Suite("Redis Cluster as a replay store")
    struct RedisClusterTests {
        private typealias Store = RedisStore

        /// One for all of these tests. It keeps what it acknowledged through a restart.
        private nonisolated(unsafe) static let shared = Result {
            try RedisCluster(["--appendonly", "yes", "--appendfsync", "always"])
        }
        private let cluster: RedisCluster
        private let url: String

        init() throws {
            cluster = try Self.shared.get()
            url = "\(cluster.url)&prefix=\(UUID().uuidString)"
        }

        /// A claim whose key begins with the byte that says its shard.
        private func claim(_ number: UInt64, shard: UInt64) -> ReplayClaim {
            let key = Store.claim(number).key.words
            return ReplayClaim(
                key: ReplayKey(words: (shard << 56, key.1, key.2, key.3)), issued: Store.now,
                until: Store.claim(0).until)
        }

        @Test("a node of a cluster that is asked as a single server says so")
        func notSingle() throws {
            let shards = cluster.servers.map { server in Store.message { _ = try Store.open(server.url) } }
            #expect(shards.contains { $0.contains("add ?cluster=true") }, "\(shards)")
        }

        @Test("any node leads to all of them")
        func anyNode() throws {
            for server in cluster.servers {
                let store = try Store.open("\(server.url)?cluster=true&prefix=\(UUID().uuidString)")
                let group = (0..<256 as Range<UInt64>).map { claim($0, shard: $0) }
                #expect(store.claim(group, at: Store.now).allSatisfy { (try? $0.get()) == .first })
                #expect(store.claim(group, at: Store.now).allSatisfy { (try? $0.get()) == .alreadyUsed })
                #expect(try store.status().entries == 256)
            }
        }

        @Test("one node emptied is fenced; the others remember")
        func oneNodeEmptied() throws {
            let store = try Store.open(url)
            let group = (0..<256 as Range<UInt64>).map { claim($0, shard: $0) }
            #expect(store.claim(group, at: Store.now).allSatisfy { (try? $0.get()) == .first })
            try cluster.primaries()[0].cli("flushall")
            let again = store.claim(group, at: Store.later(1000)).map { try? $0.get() }
            let refused = again.count { $0?.isFenced(from: Store.later(1000)) == true }
            #expect((50...120).contains(refused) && again.count { $0 == .alreadyUsed } == 256 - refused, "\(refused)")
        }

        @Test("a slot on its way from node to node is followed there, and what it held is not forgotten")
        func migration() throws {
            let store = try Store.open(url)
            let shard: UInt64 = 0x42
            let prefix = try #require(url.split(separator: "prefix=").last)
            let slot = try cluster.servers[0].cli("cluster", "keyslot", "\(prefix):{42}:since")
            let known = (0..<40 as Range<UInt64>).map { claim($0, shard: shard) }
            func all(_ claims: [ReplayClaim], are expected: ReplayAnswer, _ when: String) {
                let answers = store.claim(claims, at: Store.now)
                #expect(answers.allSatisfy { (try? $0.get()) == expected }, "\(when): \(answers)")
            }
            all(known, are: .first, "before")
            let identifiers = try cluster.primaries().map { (server: $0, identifier: try $0.cli("cluster", "myid")) }
            let old = try #require(
                try identifiers.first { try $0.server.cli("cluster", "countkeysinslot", slot) != "0" })
            let new = try #require(identifiers.first { $0.identifier != old.identifier })
            try new.server.cli("cluster", "setslot", slot, "importing", old.identifier)
            try old.server.cli("cluster", "setslot", slot, "migrating", new.identifier)
            all(known, are: .alreadyUsed, "while nothing has moved")
            let during = (100..<120 as Range<UInt64>).map { claim($0, shard: shard) }
            all(during, are: .first, "new ones, sent to the new node by ASK")
            all(during, are: .alreadyUsed, "the same again")
            var keys = try old.server.cli("cluster", "getkeysinslot", slot, "1000").split(separator: "\n").map(
                String.init)
            // The first half without the marker, then the rest.
            keys.sort { !$0.hasSuffix("since") && $1.hasSuffix("since") }
            for key in keys.prefix(20) { try move(key, from: old.server, to: new.server) }
            all(known + during, are: .alreadyUsed, "while half has moved")
            for key in keys.dropFirst(20) { try move(key, from: old.server, to: new.server) }
            all(known + during, are: .alreadyUsed, "when all has moved, but the slot")
            let late = (200..<220 as Range<UInt64>).map { claim($0, shard: shard) }
            all(late, are: .first, "new ones, key and marker by ASK")
            for server in [new.server, old.server] {
                try server.cli("cluster", "setslot", slot, "node", new.identifier)
            }
            all(known + during + late, are: .alreadyUsed, "after, by MOVED")
            all((300..<320 as Range<UInt64>).map { claim($0, shard: shard) }, are: .first, "after")
        }

        private func move(_ key: String, from old: RedisServer, to new: RedisServer) throws {
            let answer = try old.cli("migrate", "127.0.0.1", "\(new.port)", key, "0", "1000")
            #expect(answer == "OK")
        }

        @Test("a primary killed under load: what was accepted twice is counted, and is nothing with wait=1")
        func failover() throws {
            for (wait, lagging) in [(0, false), (1, false), (0, true), (1, true)] {
                let outcome = try loseAPrimary(wait: wait, lagging: lagging)
                print(
                    "cluster, wait=\(wait), replica \(lagging ? "behind" : "in step"): "
                        + "\(outcome.accepted) accepted, \(outcome.twice) of them twice, back after \(outcome.outage)")
                #expect(outcome.accepted > 1000)
                #expect(wait == 0 || outcome.twice == 0)
            }
        }

        /// Claims as fast as it goes while a primary is killed, until its replica has taken over; then claims everything that was
        /// accepted once more.
        private func loseAPrimary(wait: Int, lagging: Bool) throws -> (accepted: Int, twice: Int, outage: Duration) {
            let store = try Store.open("\(url)\(wait)\(lagging)&wait=\(wait)", timeoutMilliseconds: 500)
            let victim = try #require(try cluster.primaries().first)
            let replica = try #require(try cluster.servers.first { try $0.cli("role").contains("\n\(victim.port)\n") })
            let start = ContinuousClock.now
            var (accepted, number) = ([ReplayClaim](), UInt64(0))
            var (killed, lastRefusal): (ContinuousClock.Instant?, ContinuousClock.Instant?)
            var (isHeldUp, isBack) = (false, false)
            // Until all has gone well for a while after the kill.
            while killed == nil || (lastRefusal ?? killed ?? .now) + .milliseconds(700) > .now {
                let age = ContinuousClock.now - start
                if lagging, killed == nil, !isHeldUp, age > .milliseconds(200) {
                    try holdUp(replica, of: victim)
                    isHeldUp = true
                }
                if killed == nil, age > .milliseconds(300) {
                    victim.end(SIGKILL)
                    killed = .now
                    replica.signal(SIGCONT)
                }
                let group = (number..<(number + 64)).map { claim($0, shard: $0 % 256) }
                number += 64
                for (claim, answer) in zip(group, store.claim(group, at: Store.now)) {
                    if (try? answer.get()) == .first { accepted.append(claim) }
                    if case .failure = answer { lastRefusal = .now }
                }
                // With the old primary back as its replica, the new one can have its claims confirmed again.
                if let moment = killed, !isBack, moment + .seconds(4) < .now {
                    try victim.start()
                    isBack = true
                }
                guard age < .seconds(20) else { throw Program.Failure(description: "no replica takes over") }
            }
            let twice = accepted.count { (try? store.claim($0, at: Store.now)) == .first }
            if !isBack { try victim.start() }
            try cluster.waitUntilComplete()
            return (accepted.count, twice, (lastRefusal ?? start) - (killed ?? start))
        }

        /// Leaves a replica behind as a slow network does: what its primary writes next fills the sockets between them, and all
        /// after that waits in the primary.
        private func holdUp(_ replica: RedisServer, of primary: RedisServer) throws {
            replica.signal(SIGSTOP)
            let filling = Data(repeating: 0x78, count: 32_000_000)
            for number in 0..<100 {
                if try primary.cli("-x", "set", "filler{\(number)}", input: filling) == "OK" { return }
            }
            throw Program.Failure(description: "no key belongs to the primary at \(primary.port)")
        }
    }
}
