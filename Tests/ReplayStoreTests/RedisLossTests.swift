import Foundation
import MediaToken
import ReplayStores
import TestSupport
import Testing

@testable import ReplayRedis

extension ReplayStoreTests {
    /// Each test changes a server while the store has a connection to it.
    @Suite("Redis replay store, when its server begins to lose keys in use")
    struct RedisLossTests {
        private let clock = RedisClock()
        private static let always = ["--appendonly", "yes", "--appendfsync", "always"]

        /// Claims of a thousand keys, each under a mark where one is wanted.
        private func thousand(marked: Bool = false) throws -> [ReplayClaim] {
            try (0..<1000 as Range<UInt64>).map { number in
                let claim = clock.claim(number)
                guard marked else { return claim }
                let mark = try RetryFingerprint(of: claim.key, secret: [1])
                return ReplayClaim(key: claim.key, issued: claim.issued, until: claim.until, fingerprint: mark)
            }
        }

        private func claim(_ claims: [ReplayClaim], _ store: RedisReplayStore, at time: Timestamp? = nil)
            -> [ReplayAnswer?]
        {
            store.claim(claims, at: time ?? clock.now).map { try? $0.get() }
        }

        private func isYes(_ answer: ReplayAnswer?) -> Bool {
            switch answer {
            case .first, .repeated: true
            default: false
            }
        }

        private func figure(_ name: String, of server: RedisServer) throws -> Int {
            let line = try server.cli("info", "everything").split(whereSeparator: \.isNewline)
                .first { $0.hasPrefix(name + ":") }
            return try #require(line.flatMap { Int($0.dropFirst(name.count + 1)) })
        }

        /// Leaves a server with less memory than its keys take, so that it drops some of them.
        private func evict(_ policy: String, on server: RedisServer) throws {
            let (keys, used) = (try server.cli("dbsize"), try figure("used_memory", of: server))
            try server.cli("config", "set", "maxmemory-policy", policy)
            try server.cli("config", "set", "maxmemory", "\(used - 20_000)")
            #expect(try figure("evicted_keys", of: server) > 0)
            #expect(try figure("evicted_keys", of: server) < 1000)
            let left = try #require(Int(try server.cli("dbsize")))
            #expect(left < Int(keys) ?? 0)
        }

        private func evictNoMore(_ server: RedisServer) throws {
            try server.cli("config", "set", "maxmemory", "0")
            try server.cli("config", "set", "maxmemory-policy", "noeviction")
        }

        @Test(
            "eviction turned on in use: of the used tokens none is accepted again, nor repeated",
            arguments: ["volatile-lru", "volatile-ttl", "allkeys-random"], [false, true])
        func evicting(policy: String, marked: Bool) throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            let claims = try thousand(marked: marked)
            #expect(claim(claims, store).allSatisfy { $0 == .first })
            try evict(policy, on: server)
            for _ in 0..<3 {
                let again = claim(claims, store)
                #expect(!again.contains { isYes($0) }, "\(Set(again.map { "\($0 as Any)" }))")
            }
        }

        /// What is done about an eviction before the store is asked again.
        enum Aftermath: String, CaseIterable {
            case policySetBack = "the policy is set back"
            case seenAndSetBack = "a claim was refused, and the policy is set back"
            case countsSetBack = "the policy and the counts are set back"
            case countsSetBackAfterRefusal = "a claim was refused, and the policy and the counts are set back"
        }

        @Test(
            "keys evicted, and all as before again: used tokens are refused, and later ones accepted",
            arguments: Aftermath.allCases, [(marked: false, isNew: false), (true, false), (false, true)])
        func evicted(aftermath: Aftermath, _ kind: (marked: Bool, isNew: Bool)) throws {
            let server = try RedisServer()
            let before = try clock.open(server.url)
            let claims = try thousand(marked: kind.marked)
            #expect(claim(claims, before).allSatisfy { $0 == .first })
            try evict("volatile-lru", on: server)
            if aftermath == .seenAndSetBack || aftermath == .countsSetBackAfterRefusal {
                #expect(claim([clock.claim(5000)], before) == [nil])
            }
            if aftermath == .countsSetBack || aftermath == .countsSetBackAfterRefusal {
                try server.cli("config", "resetstat")
            }
            try evictNoMore(server)
            let store =
                kind.isNew ? RedisReplayStore(try RedisConfiguration.exact(server.url + "?timeout=20000")) : before
            for _ in 0..<2 {
                let again = claim(claims, store)
                let refused = again.count { $0?.isFenced(from: clock.now) == true }
                #expect(refused + again.count { $0 == .alreadyUsed } == 1000 && refused > 0, "\(refused) of 1000")
            }
            let fresh = clock.claim(6000, issued: clock.later(20_000))
            #expect(claim([fresh, fresh], store, at: clock.later(20_000)) == [.first, .alreadyUsed])
        }

        /// Sets the counts of a server back, in another time than the last reset took. The store tells resets of the
        /// same length apart by the count of commands, but with a fence by the server's clock, which is behind this
        /// test's.
        private func reset(_ server: RedisServer) throws {
            func trace() throws -> String? {
                try server.cli("info", "commandstats").split(whereSeparator: \.isNewline)
                    .first { $0.hasPrefix("cmdstat_config|resetstat:") }?.split(separator: ",").first {
                        $0.hasPrefix("usec=")
                    }
                    .map(String.init)
            }
            let last = try trace()
            repeat { try server.cli("config", "resetstat") } while try trace() == last
        }

        @Test("counts that are set back tell nothing any more: the store is fenced, again after each reset")
        func countsSetBack() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            for round in 1...3 as ClosedRange<Int64> {
                let (time, late) = (clock.later(round * 20_000), clock.later(round * 20_000 + 10_000))
                let known = clock.claim(UInt64(round) * 10, issued: time)
                #expect(claim([known], store, at: time) == [.first])
                try reset(server)
                let other = clock.claim(UInt64(round) * 10 + 1, issued: time)
                #expect(claim([other], store, at: late)[0]?.isFenced(from: late) == true)
            }
        }

        @Test("a policy that could evict is refused while it is set, by claims and by the probe")
        func policyAlone() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            let probed = try clock.open(server.url)
            #expect(claim([clock.claim(1)], store) == [.first])
            try server.cli("config", "set", "maxmemory-policy", "volatile-lru")
            let text = message { _ = try store.claim(clock.claim(2), at: clock.now) }
            #expect(
                text.contains("evicts live keys to make room (maxmemory-policy volatile-lru); set it to noeviction"))
            #expect(text.contains("unavailable") && text.contains(server.url), "\(text)")
            // No is no.
            #expect(claim([clock.claim(1)], store) == [.alreadyUsed])
            #expect(message { try store.open(at: clock.now) }.contains("set it to noeviction"))
            #expect(message { _ = try probed.report(at: clock.now) }.contains("set it to noeviction"))
            #expect(message { _ = try clock.open(server.url) }.contains("set it to noeviction"))
            try server.cli("config", "set", "maxmemory-policy", "noeviction")
            #expect(claim([clock.claim(1), clock.claim(2)], store) == [.alreadyUsed, .alreadyUsed])
            #expect(claim([clock.claim(3)], store) == [.first])
            _ = try probed.report(at: clock.now)
        }

        @Test("a probe that sees evicted keys fences the store")
        func probe() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            #expect(claim(try thousand(), store).allSatisfy { $0 == .first })
            try evict("volatile-lru", on: server)
            #expect(message { try store.open(at: clock.now) }.contains("set it to noeviction"))
            try evictNoMore(server)
            try store.open(at: clock.now)
            #expect(
                ReplayAnswer.predatesStore(since: try #require(try store.contents().fence)).isFenced(from: clock.now))
        }

        @Test(
            "a file that is synced less carefully from now on is not believed after a crash",
            arguments: [("appendfsync", "everysec"), ("appendfsync", "no"), ("no-appendfsync-on-rewrite", "yes")])
        func weakened(setting: String, value: String) throws {
            let server = try RedisServer(Self.always)
            let store = try clock.open(server.url)
            #expect(claim([clock.claim(1)], store) == [.first])
            try server.cli("config", "set", setting, value)
            // Nothing is lost yet.
            #expect(claim([clock.claim(1), clock.claim(2)], store) == [.alreadyUsed, .first])
            // And what was lost meanwhile does not come back with the setting.
            try server.cli("config", "set", setting, setting == "appendfsync" ? "always" : "no")
            #expect(claim([clock.claim(3)], store) == [.first])
            server.end(SIGKILL)
            try server.start()
            let restart = clock.later(1000)
            #expect(claim([clock.claim(4)], store, at: restart)[0]?.isFenced(from: restart) == true)
        }

        @Test("a server that stops to append to its file is refused until it appends again")
        func appendsNoMore() throws {
            let server = try RedisServer(Self.always)
            let store = try clock.open(server.url)
            #expect(claim([clock.claim(1)], store) == [.first])
            try server.cli("config", "set", "appendonly", "no")
            // The file vouches for all of this run, and would be believed if it were started from it.
            #expect(
                message { _ = try store.claim(clock.claim(2), at: clock.now) }.contains(
                    "set appendonly yes again"))
            #expect(message { try store.open(at: clock.now) }.contains("set appendonly yes again"))
            #expect(claim([clock.claim(1)], store) == [.alreadyUsed])
            try server.cli("config", "set", "appendonly", "yes")
            #expect(claim([clock.claim(1), clock.claim(3)], store) == [.alreadyUsed, .first])
        }

        @Test("keys evicted, seen by a claim that was refused: a restart does not make that forgotten")
        func evictedAndRestarted() throws {
            let server = try RedisServer(Self.always)
            let store = try clock.open(server.url)
            let claims = try thousand()
            #expect(claim(claims, store).allSatisfy { $0 == .first })
            try evict("volatile-lru", on: server)
            #expect(claim([clock.claim(5000)], store) == [nil])
            server.end(SIGKILL)
            try server.start()
            #expect(!claim(claims, store).contains(.first))
        }

        @Test("a server that evicted keys after a restart, before it was asked, is fenced")
        func evictedBeforeAsked() throws {
            let server = try RedisServer(Self.always)
            let store = try clock.open(server.url)
            let claims = try thousand()
            #expect(claim(claims, store).allSatisfy { $0 == .first })
            server.end(SIGKILL)
            try server.start()
            try evict("volatile-lru", on: server)
            try evictNoMore(server)
            #expect(!claim(claims, store).contains(.first))
        }

        @Test("a primary that followed its replica for a while, and lost what that one had not got, is fenced")
        func followed() throws {
            let server = try RedisServer(["--repl-diskless-sync-delay", "0"])
            let store = try clock.open(server.url)
            let copy = try RedisServer([
                "--replicaof", "127.0.0.1", "\(server.port)", "--repl-diskless-sync-delay", "0",
            ])
            func waitUntilFollowing(_ server: RedisServer) throws {
                while try !server.cli("info", "replication").contains("master_link_status:up") { usleep(20_000) }
            }
            try waitUntilFollowing(copy)
            try copy.cli("replicaof", "no", "one")
            #expect(claim([clock.claim(1)], store) == [.first])
            try server.cli("replicaof", "127.0.0.1", "\(copy.port)")
            try waitUntilFollowing(server)
            try server.cli("replicaof", "no", "one")
            // Its own marker has come back without the key.
            #expect(try server.cli("dbsize") == "1")
            #expect(claim([clock.claim(1)], store)[0]?.isFenced(from: clock.now) == true)
        }

        @Test("a replica that can be written to is refused in use too, and gets no marker")
        func writableReplica() throws {
            let primary = try RedisServer(["--repl-diskless-sync-delay", "0"])
            let server = try RedisServer(["--replica-read-only", "no"])
            let store = try clock.open(server.url)
            #expect(claim([clock.claim(1)], store) == [.first])
            try server.cli("replicaof", "127.0.0.1", "\(primary.port)")
            while try !server.cli("info", "replication").contains("master_link_status:up") { usleep(20_000) }
            for number in 2..<4 as Range<UInt64> {
                let text = message { _ = try store.claim(clock.claim(number), at: clock.now) }
                #expect(text.contains("name the primary"), "\(text)")
            }
            #expect(message { try store.open(at: clock.now) }.contains("name the primary"))
            #expect(try server.cli("exists", "media-token:{00}:since") == "0")
        }

        @Test("a user that may not read the server's state any more cannot claim; used tokens stay used")
        func denied() throws {
            let server = try RedisServer(Self.always)
            try server.cli(
                "acl", "setuser", "gate", "on", ">right", "~media-token:*", "+set", "+get", "+eval", "+info",
                "+time")
            let url = "redis://gate:right@127.0.0.1:\(server.port)"
            let store = try clock.open(url)
            #expect(claim([clock.claim(1)], store) == [.first])
            // Without CONFIG nothing is known of the file.
            #expect(try server.cli("get", "media-token:{00}:since").contains(" volatile "))
            try server.cli("acl", "setuser", "gate", "-info")
            for stated in ["", "&eviction=none"] {
                let other = RedisReplayStore(try RedisConfiguration.exact(url + "?timeout=20000" + stated))
                #expect(message { try other.open(at: clock.now) }.contains("NOPERM"))
            }
            let text = message { _ = try store.claim(clock.claim(2), at: clock.now) }
            #expect(text.contains("NOPERM") && text.contains("+info"), "\(text)")
            #expect(claim([clock.claim(1)], store) == [.alreadyUsed])
            try server.cli("acl", "setuser", "gate", "+info")
            #expect(claim([clock.claim(3)], store) == [.first])
        }

        @Test(
            "counts that were set back are found out by the trace of that, or by the count of commands where it is high"
        )
        func trace() throws {
            let configuration = RedisConfiguration(host: "host")
            func facts(
                _ processed: Int, trace: String?, after last: RedisServerFacts? = nil,
                askedAt: ContinuousClock.Instant = .now
            ) throws -> RedisServerFacts {
                let info =
                    Self.told + "total_commands_processed:\(processed)\r\n"
                    + "server_time_usec:\(clock.later(30_000).milliseconds * 1000)\r\n"
                let replies = [.text(info), .array([])] + (trace.map { [RedisReply.text($0)] } ?? [])
                return try #require(
                    RedisServerFacts(replies[...], askedAt: askedAt, at: .now, after: last, configuration))
            }
            let other = "cmdstat_get:calls=1,usec=3,usec_per_call=3.00\r\n"
            let reset =
                "cmdstat_config|resetstat:calls=1,usec=53,usec_per_call=53.00,rejected_calls=0,failed_calls=0\r\n"
            let denied =
                "cmdstat_config|resetstat:calls=0,usec=0,usec_per_call=0.00,rejected_calls=1,failed_calls=0\r\n"
            #expect(try facts(10, trace: other).losses?.reset == "-")
            #expect(try facts(10, trace: other + reset).losses?.reset == "53")
            #expect(try facts(10, trace: other + denied).losses?.reset == "-")
            let (few, many) = (try facts(1000, trace: other), try facts(1_000_000_000, trace: other))
            #expect(few.commandsAgain(at: .now, configuration).count == 3)
            #expect(many.commandsAgain(at: .now, configuration).count == 2)
            #expect(try facts(2000, trace: nil, after: few).losses == nil)
            #expect(try facts(1_000_000_001, trace: nil, after: many).losses == many.losses)
            #expect(try facts(999_999_999, trace: nil, after: many).losses == nil)
            // The trace is a duration, and another reset may take as long.
            let before = try facts(100, trace: reset)
            let after = try facts(101, trace: reset, after: before)
            let again = try facts(50, trace: reset, after: before)
            let marker = try #require(RedisMarker(beginningOn: before, fence: clock.now))
            #expect(again.losses == before.losses)
            #expect(marker.isOf(before) && marker.isOf(after) && !marker.isOf(again))
            #expect(!marker.isOf(try facts(51, trace: reset, after: again)))
            let renewed = try #require(marker.renewed(by: again, fence: clock.later(60_000)))
            #expect(renewed.since == clock.later(60_000) && renewed.isOf(again))
            let old = try facts(1_000_000_000, trace: other, askedAt: .now - .seconds(101))
            #expect(old.commandsAgain(at: .now, configuration).count == 3)
            #expect(try facts(1_000_000_001, trace: nil, after: old).losses == nil)
        }

        private static let told =
            "# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\nmaxmemory_policy:noeviction\r\nevicted_keys:0\r\n"

        @Test(
            "a server that does not tell whether it evicts is refused, unless the URL states it; what it tells decides",
            arguments: [
                (told, nil, nil), (told.replacing("noeviction", with: "allkeys-lru"), "noeviction", "noeviction"),
                (told.replacing("maxmemory_policy", with: "other"), "eviction=none", nil),
                (told.replacing("evicted_keys", with: "other"), "eviction=none", nil),
                (
                    told.replacing("evicted_keys:0\r\n", with: "").replacing("noeviction", with: "volatile-ttl"),
                    "volatile-ttl", "volatile-ttl"
                ),
            ] as [(String, String?, String?)])
        func untold(info: String, expected: String?, stated: String?) throws {
            for (setting, expected) in [("", expected), ("?eviction=none", stated)] {
                let configuration = try RedisConfiguration(url: "redis://host" + setting)
                let facts = try #require(
                    RedisServerFacts(
                        [.text(info), .array([]), .text("")], askedAt: .now, at: .now, after: nil, configuration))
                if let expected {
                    #expect(facts.problem?.contains(expected) == true, "\(facts.problem ?? "no problem")")
                } else {
                    #expect(facts.problem == nil)
                }
            }
        }

        @Test("evictions that a server tells count also where the URL states that there are none")
        func stated() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url + "?eviction=none")
            let claims = try thousand()
            #expect(claim(claims, store).allSatisfy { $0 == .first })
            try evict("volatile-lru", on: server)
            #expect(!claim(claims, store).contains(.first))
            #expect(message { try store.open(at: clock.now) }.contains("set it to noeviction"))
            try evictNoMore(server)
            #expect(!claim(claims, store).contains(.first))
        }
    }
}
