import Foundation
import MediaToken
import ReplayRedis
import ReplayStores
import TestSupport
import Testing

extension ReplayStoreTests {
    @Suite("Redis Cluster as a replay store")
    struct RedisClusterTests {
        private let clock = RedisClock()

        /// One cluster for all of these tests. It keeps what it acknowledged through a restart. Its servers give each
        /// other 15 seconds, since on a busy machine a server may look gone before; a test that ends one has them wait
        /// less.
        ///
        /// `nonisolated(unsafe)`: the suite is serialized, so one test at a time uses the cluster.
        private nonisolated(unsafe) static let shared = Result {
            try RedisCluster(["--appendonly", "yes", "--appendfsync", "always", "--cluster-node-timeout", "15000"])
        }
        /// A cluster whose servers speak TLS, with each other too, and demand no certificate of the store.
        ///
        /// `nonisolated(unsafe)`: the suite is serialized, so one test at a time uses the cluster.
        private nonisolated(unsafe) static let overTLS = Result {
            try RedisCluster(["--tls-auth-clients", "no"], authority: TestAuthority())
        }
        private let cluster: RedisCluster
        private let url: String

        init() throws {
            cluster = try Self.shared.get()
            url = "\(cluster.url)&prefix=\(UUID().uuidString)"
        }

        /// A claim whose key begins with the byte that says its shard.
        private func claim(_ number: UInt64, shard: UInt64) -> ReplayClaim {
            let key = clock.claim(number).key.words
            return ReplayClaim(
                key: ReplayKey(words: (shard << 56, key.1, key.2, key.3)), issued: clock.now,
                until: clock.claim(0).until)
        }

        @Test("a node of a cluster that is asked as a single server says so")
        func notSingle() throws {
            for server in cluster.servers {
                #expect(message { _ = try clock.open(server.url) }.contains("add ?cluster=true"))
            }
        }

        @Test("a node that has no host name to announce is found by its address")
        func noHostName() throws {
            let ports = try FreePort.take(1)
            let names = ["--cluster-preferred-endpoint-type", "hostname"]
            let server = try RedisServer(["--cluster-enabled", "yes", "--cluster-port", "\(ports[0])"] + names)
            try server.cli("cluster", "addslotsrange", "0", "16383")
            try #require(try Program.wait { try server.cli("cluster", "info").contains("cluster_state:ok") })
            #expect(try server.cli("cluster", "slots").contains("?"))
            let store = try clock.open(server.url + "?cluster=true", timeoutMilliseconds: 2000 * Program.slowness)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
        }

        @Test("any node leads to all of them, also beside one that is away")
        func anyNode() throws {
            let away = "127.0.0.1:\(try FreePort.take(1)[0])"
            let known = cluster.servers[1].url.dropFirst("redis://".count)
            let store = try clock.open("redis://\(away),\(known)?cluster=true&prefix=\(UUID().uuidString)")
            #expect(
                store.claim((0..<256 as Range<UInt64>).map { claim($0, shard: $0) }, at: clock.now).allSatisfy {
                    (try? $0.get()) == .first
                })
            for server in cluster.servers {
                let store = try clock.open("\(server.url)?cluster=true&prefix=\(UUID().uuidString)")
                let group = (0..<256 as Range<UInt64>).map { claim($0, shard: $0) }
                #expect(store.claim(group, at: clock.now).allSatisfy { (try? $0.get()) == .first })
                #expect(store.claim(group, at: clock.now).allSatisfy { (try? $0.get()) == .alreadyUsed })
                #expect(try store.contents().entries == 256)
            }
        }

        @Test("a cluster is ready while a slot is being moved, and not while no node has a slot")
        func readiness() throws {
            let cluster = try RedisCluster([
                "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "15000",
            ])
            let store = try clock.open(cluster.url)
            _ = try store.report(at: clock.now)
            #expect(try store.advice() == nil)
            for server in cluster.servers { try server.cli("config", "set", "cluster-require-full-coverage", "yes") }
            #expect(try store.advice()?.contains("set cluster-require-full-coverage no") == true)
            for server in cluster.servers { try server.cli("config", "set", "cluster-require-full-coverage", "no") }
            // The slot of the keys with the tag 00.
            let (slot, marker) = ("13254", "media-token:{00}:since")
            let primaries = try cluster.primaries()
            let owner = try #require(try primaries.first { try !$0.cli("get", marker).contains("MOVED") })
            let other = try #require(primaries.first { $0.port != owner.port })
            try other.cli("cluster", "setslot", slot, "importing", try owner.cli("cluster", "myid"))
            try owner.cli("cluster", "setslot", slot, "migrating", try other.cli("cluster", "myid"))
            #expect(try owner.cli("get", "media-token:{00}:nothing").contains("ASK"))
            // As a second later, when the key of the first probe has expired.
            try owner.cli("del", "media-token:{00}:probe")
            _ = try store.report(at: clock.now)
            for server in [owner, other] { try server.cli("cluster", "setslot", slot, "stable") }
            for server in cluster.servers { try server.cli("cluster", "delslots", slot) }
            #expect(message { _ = try store.report(at: clock.now) }.contains("the replay store is unavailable"))
        }

        @Test("one node emptied is fenced; the others remember")
        func oneNodeEmptied() throws {
            let store = try clock.open(url)
            let group = (0..<256 as Range<UInt64>).map { claim($0, shard: $0) }
            #expect(store.claim(group, at: clock.now).allSatisfy { (try? $0.get()) == .first })
            try cluster.primaries()[0].cli("flushall")
            let again = store.claim(group, at: clock.later(1000)).map { try? $0.get() }
            let refused = again.count { $0?.isFenced(from: clock.later(1000)) == true }
            #expect((50...120).contains(refused) && again.count { $0 == .alreadyUsed } == 256 - refused, "\(refused)")
        }

        @Test("a slot on its way from node to node is followed there, and what it held is not forgotten")
        func migration() throws {
            let store = try clock.open(url)
            let shard: UInt64 = 0x42
            let prefix = try #require(url.split(separator: "prefix=").last)
            let slot = try cluster.servers[0].cli("cluster", "keyslot", "\(prefix):{42}:since")
            let known = (0..<40 as Range<UInt64>).map { claim($0, shard: shard) }
            func all(_ claims: [ReplayClaim], are expected: ReplayAnswer, _ when: String) {
                let answers = store.claim(claims, at: clock.now)
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
            for (setting, weak, strong, number) in [
                ("appendfsync", "everysec", "always", 130), ("maxmemory-policy", "volatile-lru", "noeviction", 140),
            ] as [(String, String, String, UInt64)] {
                let unsure = (number..<(number + 10)).map { claim($0, shard: shard) }
                try new.server.cli("config", "set", setting, weak)
                let answers = store.claim(unsure, at: clock.now)
                #expect(answers.allSatisfy { (try? $0.get()) == nil }, "while the new node could lose it: \(answers)")
                try new.server.cli("config", "set", setting, strong)
            }
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

        @Test("when the node that the URL names hangs, the others tell who has taken over")
        func hungSeed() throws {
            try cluster.setNodeTimeout(milliseconds: 1000)
            let primaries = try cluster.primaries()
            let (first, second) = (primaries[0], primaries[1])
            let seed = try #require(try cluster.servers.first { try $0.cli("role").contains("\n\(first.port)\n") })
            let store = try clock.open(
                "\(seed.url)?cluster=true&wait=0&prefix=\(UUID().uuidString)", timeoutMilliseconds: 2000)
            let known = (0..<256 as Range<UInt64>).map { claim($0, shard: $0) }
            #expect(store.claim(known, at: clock.now).allSatisfy { (try? $0.get()) == .first })
            seed.signal(SIGSTOP)
            second.end(SIGKILL)
            var answers: [Result<ReplayAnswer, ReplayStoreError>] = []
            _ = Program.wait {
                answers = store.claim(known, at: clock.now)
                return answers.allSatisfy { (try? $0.get()) != nil }
            }
            #expect(
                answers.allSatisfy { (try? $0.get()) == .alreadyUsed },
                "\(answers.first { (try? $0.get()) == nil } as Any)")
            seed.signal(SIGCONT)
            try second.start()
            try cluster.waitUntilComplete()
            try cluster.setNodeTimeout(milliseconds: 15_000)
        }

        /// What became of the claims that were accepted around a failover, when they came again.
        private struct Failover {
            var accepted: [ReplayClaim] = []
            /// From the primary's death to the last claim that could not be decided.
            var outage = Duration.zero
            var (known, fenced, twice) = (0, 0, 0)
        }

        /// Each loss in one of the clusters: over TLS the same code decides.
        @Test(
            "a primary killed under load: nothing is accepted twice, and with wait=1 nothing is fenced either",
            arguments: [
                (wait: 1, isBehind: false, isOverTLS: false), (0, true, false), (0, false, true), (1, true, true),
            ])
        func failover(wait: Int, isBehind: Bool, isOverTLS: Bool) throws {
            let cluster = isOverTLS ? try Self.overTLS.get() : cluster
            let failover = try loseAPrimary(of: cluster, wait: wait, isBehind: isBehind)
            print(
                "cluster, wait=\(wait), replica \(isBehind ? "behind" : "in step"): of \(failover.accepted.count) accepted "
                    + "\(failover.known) known, \(failover.fenced) behind the fence, \(failover.twice) accepted twice; "
                    + "undecided for \(failover.outage)")
            #expect(failover.accepted.count > 1000)
            #expect(failover.twice == 0)
            #expect(wait == 0 ? failover.fenced > 0 : failover.fenced == 0)
        }

        /// Claims as fast as it goes while a primary is killed, until its replica has taken over; then claims
        /// everything that was accepted once more.
        private func loseAPrimary(of cluster: RedisCluster, wait: Int, isBehind: Bool) throws -> Failover {
            try cluster.setNodeTimeout(milliseconds: 1000)
            let url = "\(cluster.url)&prefix=\(UUID().uuidString)&wait=\(wait)"
            let store = try clock.open(url, timeoutMilliseconds: 2000)
            let victim = try #require(try cluster.primaries().first)
            let replica = try #require(try cluster.servers.first { try $0.cli("role").contains("\n\(victim.port)\n") })
            let start = ContinuousClock.now
            var (failover, number) = (Failover(), UInt64(0))
            var (killed, lastRefusal): (ContinuousClock.Instant?, ContinuousClock.Instant?)
            var (isHeldUp, isBack) = (false, false)
            // Until all has gone well for a while after the kill.
            while killed == nil || (lastRefusal ?? killed ?? .now) + .milliseconds(700) > .now {
                let age = ContinuousClock.now - start
                if isBehind, !isHeldUp, failover.accepted.count > 1000 {
                    try holdUp(replica, of: victim)
                    isHeldUp = true
                }
                if killed == nil, failover.accepted.count > 1500 {
                    victim.end(SIGKILL)
                    killed = .now
                    replica.signal(SIGCONT)
                }
                // With the old primary back as its replica, the new one can have its claims confirmed again.
                if killed != nil, !isBack, try replica.cli("role").hasPrefix("master") {
                    try victim.start()
                    isBack = true
                }
                let group = (number..<(number + 64)).map { claim($0, shard: $0 % 256) }
                number += 64
                for (claim, answer) in zip(group, store.claim(group, at: clock.now)) {
                    if (try? answer.get()) == .first { failover.accepted.append(claim) }
                    if case .failure = answer { lastRefusal = .now }
                }
                guard age < Program.patience * 2 else { throw Program.Failure(description: "no replica takes over") }
            }
            failover.outage = (lastRefusal ?? start) - (killed ?? start)
            try claimAgain(&failover, in: store)
            try cluster.waitUntilComplete()
            try cluster.setNodeTimeout(milliseconds: 15_000)
            return failover
        }

        private func claimAgain(_ failover: inout Failover, in store: RedisReplayStore) throws {
            for begin in stride(from: 0, to: failover.accepted.count, by: 100) {
                for answer in store.claim(Array(failover.accepted[begin...].prefix(100)), at: clock.now) {
                    switch try answer.get() {
                    case .first: failover.twice += 1
                    case .alreadyUsed, .repeated: failover.known += 1
                    case .predatesStore: failover.fenced += 1
                    }
                }
            }
        }

        /// Leaves a replica behind as a slow network does: what its primary writes next fills the sockets between them,
        /// and all after that waits in the primary.
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
