import EventLoops
import Foundation
import MediaToken
import ReplayRedis
import ReplayStoreTesting
import TestSupport
import Testing

/// A test's own time, and what it claims by it.
///
/// It is an hour ahead of the servers: a store begins by its server's clock, and so before all that a test claims.
struct RedisClock {
    let now = Timestamp.now.moved(3_600_000)

    func later(_ milliseconds: Int64) -> Timestamp { now.moved(milliseconds) }

    func claim(_ number: UInt64, issued: Timestamp? = nil) -> ReplayClaim {
        ReplayRace.claim(number, at: issued ?? now)
    }

    /// A store that begins before what is claimed in it. Patient, unless its deadline is what a test is about.
    func open(_ url: String, timeoutMilliseconds: Int = 20_000) throws -> RedisReplayStore {
        var configuration = try RedisConfiguration.exact(url)
        configuration.timeout = .milliseconds(timeoutMilliseconds)
        let cache = RedisReplayStore(configuration)
        try cache.open(at: .now)
        return cache
    }
}

extension ReplayAnswer {
    /// Whether it is the refusal of a store that began at `time`, or as long after as its caller may have waited. The
    /// times of one test are ten seconds apart.
    func isFenced(from time: Timestamp) -> Bool {
        if case .predatesStore(let since) = self {
            (0..<10_000).contains(since.milliseconds - time.milliseconds)
        } else {
            false
        }
    }
}

extension Timestamp {
    func moved(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: self.milliseconds + milliseconds) }
}

extension ReplayStoreTests {
    @Suite("Redis replay store")
    struct RedisReplayStoreTests {
        private let clock = RedisClock()

        @Test("a store that has lost its memory says so to a mark too, the first time and again", arguments: [1, 2, 3])
        func flushedUnderMark(times: Int) throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            let used = clock.claim(1)
            let mark = try RetryFingerprint(of: used.key, secret: [1])
            let claim = ReplayClaim(key: used.key, issued: used.issued, until: used.until, fingerprint: mark)
            #expect(try store.claim(used, at: clock.now) == .first)
            try server.cli("flushall")
            let flushed = clock.later(20_000)
            // All of a group are sent before the store has a fence again.
            for answer in store.claim(Array(repeating: claim, count: times), at: flushed)
                + store.claim([claim], at: flushed)
            {
                #expect(try answer.get().isFenced(from: flushed))
            }
        }

        @Test("stores with different prefixes or databases know nothing of each other")
        func apart() throws {
            let server = try RedisServer()
            for suffix in ["", "/1", "?prefix=other", "/1?prefix=other"] {
                let store = try clock.open(server.url + suffix)
                #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
                #expect(try clock.open(server.url + suffix).claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            }
        }

        @Test("keys expire by the token's own life and the largest skews, at a moment")
        func expiry() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            let key = try #require(
                try server.cli("--scan", "--pattern", "*").split(separator: "\n").first { !$0.hasSuffix("since") })
            let moment = try #require(Int64(try server.cli("pexpiretime", String(key))))
            #expect(moment == clock.claim(1).until.milliseconds + 600_000)
            // The marker stays.
            #expect(try server.cli("pexpiretime", "media-token:{00}:since") == "-1")
        }

        @Test("a new store is fenced, and so is one that was emptied while it is in use")
        func emptied() throws {
            let server = try RedisServer()
            let store = RedisReplayStore(try RedisConfiguration.exact(server.url + "?timeout=20000"))
            try store.open(at: clock.now)
            let answer = try store.claim(clock.claim(1), at: clock.now)
            #expect(answer.isFenced(from: clock.now))
            // And is not called used when it comes again.
            #expect(try store.claim(clock.claim(1), at: clock.now) == answer)
            let later = clock.later(10_000)
            #expect(try store.claim(clock.claim(2, issued: later), at: later) == .first)
            try server.cli("flushall")
            let flushed = clock.later(20_000)
            #expect(try store.claim(clock.claim(2, issued: later), at: flushed).isFenced(from: flushed))
            #expect(try store.claim(clock.claim(3, issued: clock.later(30_000)), at: clock.later(30_000)) == .first)
            #expect(ReplayAnswer.predatesStore(since: try #require(try store.contents().fence)).isFenced(from: flushed))
        }

        @Test("the fence is put later by the clock skew")
        func skewedFence() throws {
            let server = try RedisServer()
            var configuration = try RedisConfiguration.exact(server.url + "?timeout=20000")
            configuration.clockSkew = .seconds(30)
            let store = RedisReplayStore(configuration)
            #expect(try store.claim(clock.claim(1), at: clock.now).isFenced(from: clock.later(30_000)))
        }

        @Test("a server whose clock is far ahead, and forgets too early, is not relied on")
        func clockAhead() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            let past = Timestamp.now.moved(-400_000)
            let text = message { _ = try store.claim(clock.claim(1, issued: past.moved(-1000)), at: past) }
            #expect(text.contains("s ahead of ours") && text.contains(server.url), "\(text)")
            #expect(message { try store.open(at: past) }.contains("s ahead of ours"))
        }

        @Test("who comes with a slow clock does not vouch for a time before the store")
        func slowClock() throws {
            let server = try RedisServer()
            let store = RedisReplayStore(try RedisConfiguration.exact(server.url + "?timeout=20000"))
            let used = clock.claim(1, issued: .now)
            try server.cli("flushall")
            try store.open(at: Timestamp.now.moved(-290_000))
            guard case .predatesStore = try store.claim(used, at: .now) else {
                Issue.record("a token of before the store passed")
                return
            }
        }

        @Test("what a policy accepts no more is refused without being asked for")
        func passed() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            let claim = clock.claim(1, issued: clock.later(-1_000_000))
            guard case .predatesStore = try store.claim(claim, at: clock.now) else {
                Issue.record("a token that expired long ago was looked up")
                return
            }
            #expect(try server.cli("dbsize") == "1")
        }

        @Test("a login that is wrong, or may not do enough, is told without the password")
        func login() throws {
            let server = try RedisServer()
            let may = ["+set", "+get", "+eval", "+info", "+time", "+select", "~media-token:*"]
            try server.cli(
                "acl", "setuser", "gate", "on", ">right", may[0], may[1], may[2], may[3], may[4], may[5], may[6])
            try server.cli("acl", "setuser", "reader", "on", ">right", may[1], may[2], may[3], may[4], may[5], may[6])
            try server.cli("acl", "setuser", "default", ">secret")
            let host = "127.0.0.1:\(server.port)"
            #expect(try clock.open("redis://gate:right@\(host)").claim(clock.claim(1), at: clock.now) == .first)
            #expect(try clock.open("redis://:secret@\(host)").claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            for (login, expected) in [
                ("", "NOAUTH"), ("gate:wrong@", "set the user and password in its URL, or its password-file, right"),
                (":wrong@", "WRONGPASS"),
                ("reader:right@", "NOPERM"),
            ] {
                let store = RedisReplayStore(try RedisConfiguration.exact("redis://\(login)\(host)?timeout=20000"))
                let text = message { _ = try store.claim(clock.claim(9), at: clock.now) }
                #expect(text.contains(expected) && text.contains(host) && !text.contains("wrong@"), "\(login): \(text)")
            }
        }

        @Test("a server that repeats the login in its error does not show it to us")
        func repeatedLogin() throws {
            let server = try RedisServer(["--rename-command", "AUTH", ""])
            let text = message { _ = try clock.open("redis://gate:hunter2@127.0.0.1:\(server.port)") }
            #expect(text.contains("refuses the login") && !text.contains("hunter2"), "\(text)")
        }

        @Test("a server that would forget live keys, or that is a replica, is refused")
        func unfit() throws {
            let evicting = try RedisServer(["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"])
            #expect(message { _ = try clock.open(evicting.url) }.contains("set it to noeviction"))
            let replica = try RedisServer(["--replicaof", "127.0.0.1", "\(evicting.port)"])
            #expect(message { _ = try clock.open(replica.url) }.contains("name the primary"))
            try evicting.cli("config", "set", "maxmemory-policy", "noeviction")
            #expect(try clock.open(evicting.url).claim(clock.claim(1), at: clock.now) == .first)
            #expect(
                message { _ = try clock.open(evicting.url + "?cluster=true") }.contains("leave out cluster=true"))
        }

        @Test("wait=1 accepts what a replica has confirmed, and nothing else")
        func replicas() throws {
            let primary = try RedisServer(["--repl-diskless-sync-delay", "0"])
            let url = primary.url + "?wait=1"
            let store = try clock.open(url, timeoutMilliseconds: 2000 * Program.slowness)
            let text = message { _ = try store.claim(clock.claim(1), at: clock.now) }
            #expect(text.contains("0 of 1 replicas"), "\(text)")
            let replica = try RedisServer(["--replicaof", "127.0.0.1", "\(primary.port)"])
            while try !replica.cli("info", "replication").contains("master_link_status:up") { usleep(20_000) }
            #expect(try store.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            #expect(try store.claim(clock.claim(2), at: clock.now) == .first)
            #expect(try replica.cli("dbsize") == "3")
            replica.signal(SIGSTOP)
            #expect(message { _ = try store.claim(clock.claim(3), at: clock.now) }.contains("0 of 1 replicas"))
            replica.signal(SIGCONT)
        }

        @Test("an event loop has many claims in flight on one connection")
        func pipelined() throws {
            let server = try RedisServer()
            let loop = try EventLoop()
            _ = try clock.open(server.url)
            let configuration = try RedisConfiguration.exact(server.url + "?timeout=20000")
            let client = RedisReplayClient(configuration, on: loop)
            var firsts = 0
            var answered = 0
            for number in 0..<2000 as Range<UInt64> {
                // Each key twice, in groups of two different ones.
                let group = [clock.claim(number / 2), clock.claim(10_000 + number)]
                client.claim(group, at: clock.now) { answers in
                    answered += 1
                    firsts += answers.count { (try? $0.get()) == .first }
                }
            }
            loop.run { answered == 2000 }
            #expect(firsts == 3000)
            let connections = try server.cli("info", "stats").split(whereSeparator: \.isNewline)
                .first { $0.hasPrefix("total_connections_received:") }
            // One of the loop, one of the opening; the others are redis-cli's, at the start and here.
            #expect(Int(connections?.split(separator: ":")[1] ?? "") ?? 99 <= 6)
        }

        @Test("shows live tokens by minute, memory and fence")
        func contents() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url + "?prefix=a*b")
            _ = try clock.open(server.url + "?prefix=axb").claim(clock.claim(7), at: clock.now)
            for number in 0..<3000 as Range<UInt64> { _ = try store.claim(clock.claim(number), at: clock.now) }
            let status = try store.contents()
            #expect(status.entries == 3000)
            #expect(status.buckets.count == 1)
            let until = clock.claim(0).until
            #expect(status.buckets[0].begin <= until && until < status.buckets[0].end)
            #expect(
                ReplayAnswer.predatesStore(since: try #require(status.fence)).isFenced(from: clock.later(-3_600_000)))
            #expect(status.bytes ?? 0 > 500_000)
        }
    }
}
