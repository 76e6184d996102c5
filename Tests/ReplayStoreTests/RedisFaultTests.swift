import EventLoops
import Foundation
import MediaToken
import ReplayRedis
import TestSupport
import TestThreads
import Testing

extension ReplayStoreTests {
    @Suite("Redis replay store, when its server fails")
    struct RedisFaultTests {
        private let clock = RedisClock()

        /// Claims new keys until one is first.
        private func servesAgain(_ store: RedisReplayStore, from number: UInt64, at time: Timestamp? = nil) -> Bool {
            var number = number
            let time = time ?? clock.now
            return Program.wait {
                number += 1
                // Issued after a fence that is set now.
                return (try? store.claim(clock.claim(number, issued: time.moved(6000)), at: time)) == .first
            }
        }

        /// Long enough for all that a server in good order does, on a busy machine too.
        private static let deadline = 2000 * Program.slowness

        /// The error of a claim, and that it came by its deadline; as much is left to a busy machine.
        private func refusal(_ store: RedisReplayStore, _ number: UInt64) throws -> String {
            var text = ""
            let time = ContinuousClock().measure {
                text = message { _ = try store.claim(clock.claim(number), at: clock.now) }
            }
            #expect(time < .milliseconds(Self.deadline) + Program.patience, "\(time)")
            return text
        }

        @Test("out of reach it cannot tell, and serves again when the server is back")
        func gone() throws {
            let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"])
            let store = try clock.open(server.url, timeoutMilliseconds: Self.deadline)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            server.end(SIGKILL)
            for number in 2..<20 as Range<UInt64> {
                let text = try refusal(store, number)
                #expect(text.contains("unavailable") && text.contains(server.url), "\(text)")
            }
            try server.start()
            #expect(servesAgain(store, from: 100))
            #expect(try store.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
        }

        @Test("a server that serves no more clients, and a Sentinel, are told by their own words")
        func ownWords() throws {
            func refusal(_ url: String) -> String {
                message { _ = try clock.open(url, timeoutMilliseconds: Self.deadline) }
            }
            let full = try RedisServer()
            let other = try RawConnection(port: full.port)
            defer { withExtendedLifetime(other) {} }
            try full.cli("config", "set", "maxclients", "1")
            for url in [full.url, full.url.replacing("//", with: "//:password@")] {
                #expect(refusal(url).contains("it has as many clients as its maxclients allows"), "\(refusal(url))")
            }
            let directory = try TemporaryDirectory()
            let port = try FreePort.take(1)[0]
            let file = try directory.write("port \(port)\nbind 127.0.0.1\ndir \(directory.path)\n", to: "sentinel.conf")
            let sentinel = try Daemon("redis-server", [file, "--sentinel"], log: directory.path + "/log")
            try sentinel.wait { (try? RawConnection(port: port)) != nil }
            #expect(refusal("redis://127.0.0.1:\(port)").contains("it is a Sentinel: name the primary that it watches"))
        }

        @Test("a host whose first address does not answer is reached at its second")
        func silentAddress() throws {
            let server = try RedisServer(at: "127.0.0.2")
            // The resolver gives the address of the host itself first.
            let listener = try SilentListener(at: "127.0.0.1", port: server.port)
            _ = try clock.open(server.url)
            let directory = try TemporaryDirectory()
            let hosts = try directory.write("127.0.0.2 twice.test\n127.0.0.1 twice.test\n", to: "hosts")
            let url = "redis://twice.test:\(server.port)?timeout=\(Self.deadline)"
            try Program.asRoot(
                "unshare", "--mount", "sh", "-c",
                "mount --bind '\(hosts)' /etc/hosts && '\(Program.mediaToken.executable)' replays stat '\(url)'")
            withExtendedLifetime(listener) {}
        }

        @Test("a resolver that hangs holds up no claim beyond its deadline")
        func hungResolver() throws {
            let server = try RedisServer()
            let directory = try TemporaryDirectory()
            // Nothing comes back from a socket that nobody reads.
            let silent = try DatagramSocket(at: "127.0.53.1", port: 53)
            // The resolver would give up after ten seconds, which is before a sanitized program's deadline.
            let resolver = try directory.write(
                "nameserver 127.0.53.1\noptions timeout:30 attempts:5\n", to: "resolv.conf")
            let names = try directory.write("hosts: dns\n", to: "nsswitch.conf")
            let url = "redis://hung.test:\(server.port)?timeout=\(Self.deadline)"
            let text = message {
                try Program.asRoot(
                    "unshare", "--mount", "sh", "-c",
                    "mount --bind '\(resolver)' /etc/resolv.conf && mount --bind '\(names)' /etc/nsswitch.conf && "
                        + "exec '\(Program.mediaToken.executable)' replays stat '\(url)'")
            }
            #expect(text.contains("did not answer within \(Self.deadline) ms"), "\(text)")
            withExtendedLifetime(silent) {}
        }

        @Test("a hung server is given up within the deadline; what it still carries out is never first twice")
        func hung() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url, timeoutMilliseconds: Self.deadline)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            server.signal(SIGSTOP)
            #expect(try refusal(store, 2).contains("did not answer within \(Self.deadline) ms"))
            for number in 3..<12 as Range<UInt64> { #expect(try refusal(store, number).contains("unavailable")) }
            server.signal(SIGCONT)
            #expect(servesAgain(store, from: 100))
            // It was in the server's socket when its caller was refused, and counts as used now.
            #expect(try store.claim(clock.claim(2), at: clock.now) == .alreadyUsed)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
        }

        @Test("all that is in flight to a hung server is answered within the deadline")
        func hungPipeline() throws {
            let server = try RedisServer()
            let loop = try EventLoop()
            _ = try clock.open(server.url)
            let client = RedisReplayClient(
                try RedisConfiguration.exact("\(server.url)?timeout=\(Self.deadline)"), on: loop)
            var answers: [Result<ReplayAnswer, ReplayStoreError>] = []
            client.claim([clock.claim(0)], at: clock.now) { answers += $0 }
            loop.run { answers.count == 1 }
            #expect(try answers[0].get() == .first)
            server.signal(SIGSTOP)
            let time = ContinuousClock().measure {
                for number in 1...500 as ClosedRange<UInt64> {
                    client.claim([clock.claim(number)], at: clock.now) { answers += $0 }
                }
                loop.run { answers.count == 501 }
            }
            #expect(answers.dropFirst().allSatisfy { (try? $0.get()) == nil })
            #expect(time < .milliseconds(Self.deadline) + Program.patience, "\(time)")
            server.signal(SIGCONT)
        }

        @Test("out of memory it is full, forgets nothing, and has room again when it is given some")
        func outOfMemory() throws {
            let server = try RedisServer(["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"])
            let store = try clock.open(server.url)
            var number: UInt64 = 0
            var fault: ReplayStoreError?
            while fault == nil, number < 200_000 {
                let group = (0..<100 as Range<UInt64>).map { clock.claim(number + $0) }
                for answer in store.claim(group, at: clock.now) {
                    do throws(ReplayStoreError) { #expect(try answer.get() == .first) } catch { fault = fault ?? error }
                }
                number += 100
            }
            #expect(fault == .full("\(server.url) has reached its maxmemory"))
            for known in stride(from: 0, to: number - 100, by: 501) {
                #expect((try? store.claim(clock.claim(known), at: clock.now)) != .first)
            }
            try server.cli("config", "set", "maxmemory", "100mb")
            #expect(try store.claim(clock.claim(number), at: clock.now) == .first)
            #expect(try store.claim(clock.claim(0), at: clock.now) == .alreadyUsed)
        }

        @Test("while it loads its data it cannot tell, and serves again after")
        func loading() throws {
            let slow = [
                "--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "300",
                "--loading-process-events-interval-bytes", "1024",
            ]
            let server = try RedisServer(slow)
            let patient = try clock.open(server.url)
            let group = (0..<5000 as Range<UInt64>).map { clock.claim($0) }
            #expect(patient.claim(group, at: clock.now).allSatisfy { (try? $0.get()) == .first })
            // Behind the other one, which has made the marker: a write may wait for a busy disk longer than this one
            // does.
            let store = try clock.open(server.url, timeoutMilliseconds: Self.deadline)
            try server.cli("bgrewriteaof")
            while try !server.cli("info", "persistence").contains("aof_rewrite_in_progress:0") { usleep(20_000) }
            server.end(SIGKILL)
            try server.start(waits: false)
            var refusals: [String] = []
            while refusals.count < 1000 {
                let text = try refusal(store, 100_000 + UInt64(refusals.count))
                if text == "no error" { break }
                refusals.append(text)
                usleep(10_000)
            }
            #expect(refusals.contains { $0.contains("is loading its data") }, "\(Set(refusals))")
            #expect(servesAgain(store, from: 200_000))
            let again = patient.claim(group, at: clock.now)
            #expect(again.allSatisfy { (try? $0.get()) == .alreadyUsed }, "\(again[0]), \(again[4999])")
        }

        @Test("restarted without appendonly it has no past, whatever a snapshot brings back, and is fenced")
        func snapshot() throws {
            let server = try RedisServer()
            let store = try clock.open(server.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            try server.cli("save")
            #expect(try store.claim(clock.claim(2), at: clock.now) == .first)
            server.end(SIGKILL)
            try server.start()
            let restart = clock.later(1000)
            #expect(try store.claim(clock.claim(2), at: restart).isFenced(from: restart))
            #expect(try store.claim(clock.claim(1), at: restart).isFenced(from: restart))
            let fresh = clock.claim(3, issued: clock.later(20_000))
            #expect(try store.claim(fresh, at: clock.later(20_000)) == .first)
        }

        @Test("restarted with appendfsync always, but not before, it is fenced once")
        func alwaysFromNowOn() throws {
            let server = try RedisServer(["--appendonly", "yes"])
            let store = try clock.open(server.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            server.end(SIGKILL)
            server.settings += ["--appendfsync", "always"]
            try server.start()
            let restart = clock.later(10_000)
            // It may be lost with what the server had not written, and so may any other.
            #expect(try store.claim(clock.claim(1), at: restart) != .first)
            #expect(try store.claim(clock.claim(3), at: restart).isFenced(from: restart))
            let second = clock.claim(2, issued: clock.later(20_000))
            #expect(try store.claim(second, at: clock.later(20_000)) == .first)
            server.end(SIGKILL)
            try server.start()
            #expect(try store.claim(second, at: clock.later(21_000)) == .alreadyUsed)
        }

        @Test("restarted with a snapshot of its time as a replica, it is fenced")
        func snapshotOfReplica() throws {
            let primary = try RedisServer(["--repl-diskless-sync-delay", "0"])
            #expect(try clock.open(primary.url).claim(clock.claim(1), at: clock.now) == .first)
            let replica = try RedisServer()
            try replica.cli("replicaof", "127.0.0.1", "\(primary.port)")
            while try !replica.cli("info", "replication").contains("master_link_status:up") { usleep(20_000) }
            try replica.cli("save")
            primary.end(SIGKILL)
            try replica.cli("replicaof", "no", "one")
            // Nobody waited for it, so what it had not received is unknown.
            let store = try clock.open(replica.url)
            let takeover = clock.later(10_000)
            #expect(try store.claim(clock.claim(1), at: takeover) == .alreadyUsed)
            let second = clock.claim(2, issued: clock.later(20_000))
            #expect(try store.claim(second, at: clock.later(20_000)) == .first)
            replica.end(SIGKILL)
            try replica.start()
            let restart = clock.later(30_000)
            #expect(try store.claim(second, at: restart).isFenced(from: restart))
        }

        /// Waits for a disk most of the time, and so is tried with both settings at once.
        @Test("its server killed at fifty moments under appendonly, it never answers first twice", OwnThreads(2))
        func serverKilled() async {
            await withTaskGroup { group in
                for sync in ["everysec", "always"] {
                    group.addTask { #expect(throws: Never.self, "appendfsync \(sync)") { try killServer(sync: sync) } }
                }
            }
        }

        private func killServer(sync: String) throws {
            let server = try RedisServer(["--appendonly", "yes", "--appendfsync", sync])
            let store = try clock.open(server.url)
            var (known, fenced, twice, number) = (0, 0, 0, UInt64(0))
            for round in 0..<50 as Range<Int64> {
                // Issued after the fence that the restart before may have set.
                let time = clock.later(round * 10_000)
                var accepted: [ReplayClaim] = []
                for asked in 0... {
                    // However slow the server's disk is, 25 claims come before its end.
                    if asked == 25 { server.signal(SIGKILL, afterMilliseconds: Int(round)) }
                    let claim = clock.claim(number, issued: time)
                    number += 1
                    guard let answer = try? store.claim(claim, at: time) else { break }
                    if answer == .first { accepted.append(claim) }
                }
                server.end(SIGKILL)
                try server.start()
                #expect(servesAgain(store, from: (UInt64(round) + 1) << 32, at: time))
                for answer in store.claim(accepted, at: time) {
                    switch try answer.get() {
                    case .first: twice += 1
                    case .alreadyUsed, .repeated: known += 1
                    case .predatesStore: fenced += 1
                    }
                }
            }
            print("appendfsync \(sync): \(known) known, \(fenced) behind the fence, \(twice) accepted twice")
            #expect(twice == 0, "appendfsync \(sync)")
            #expect(known + fenced >= 50 * 25, "25 claims of each round were answered")
            // Where nothing can be lost, nothing is fenced.
            #expect(sync != "always" || fenced == 0)
        }
    }
}
