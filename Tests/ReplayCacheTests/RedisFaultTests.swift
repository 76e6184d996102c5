import EventLoop
import Foundation
import MediaToken
import ReplayRedis
import TestSupport
import Testing

extension ReplayCacheTests {
    @Suite("Redis replay store, when its server fails")
    struct RedisFaultTests {
        private typealias Store = RedisStore

        /// Claims new keys until one is first, for a second.
        private func servesWithinASecond(
            _ store: RedisReplayCache, from number: UInt64, at time: Timestamp = RedisStore.now
        ) -> Bool {
            let patience = ContinuousClock.now + .seconds(1)
            var number = number
            while ContinuousClock.now < patience {
                // Issued after a fence that is set now.
                if (try? store.claim(Store.claim(number, issued: time.moved(6000)), at: time)) == .first { return true }
                number += 1
                usleep(10_000)
            }
            return false
        }

        private static let deadline = 250

        /// The error of a claim, and that it came within the deadline; the rest of a second is left to a busy machine.
        private func refusal(_ store: RedisReplayCache, _ number: UInt64) throws -> String {
            var text = ""
            let time = ContinuousClock().measure {
                text = Store.message { _ = try store.claim(Store.claim(number), at: Store.now) }
            }
            #expect(time < .seconds(1), "\(time)")
            return text
        }

        @Test("out of reach it cannot tell, at once, and serves again when the server is back")
        func gone() throws {
            let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"])
            let store = try Store.open(server.url, timeoutMilliseconds: Self.deadline)
            #expect(try store.claim(Store.claim(1), at: Store.now) == .first)
            server.end(SIGKILL)
            for number in 2..<20 as Range<UInt64> {
                let text = try refusal(store, number)
                #expect(text.contains("unavailable") && text.contains(server.url), "\(text)")
            }
            try server.start()
            #expect(servesWithinASecond(store, from: 100))
            #expect(try store.claim(Store.claim(1), at: Store.now) == .alreadyUsed)
        }

        @Test("a hung server is given up within the deadline; what it still carries out is never first twice")
        func hung() throws {
            let server = try RedisServer()
            let store = try Store.open(server.url, timeoutMilliseconds: Self.deadline)
            #expect(try store.claim(Store.claim(1), at: Store.now) == .first)
            server.signal(SIGSTOP)
            #expect(try refusal(store, 2).contains("did not answer within 250 ms"))
            for number in 3..<12 as Range<UInt64> { #expect(try refusal(store, number).contains("unavailable")) }
            server.signal(SIGCONT)
            #expect(servesWithinASecond(store, from: 100))
            // It was in the server's socket when its caller was refused, and counts as used now.
            #expect(try store.claim(Store.claim(2), at: Store.now) == .alreadyUsed)
            #expect(try store.claim(Store.claim(1), at: Store.now) == .alreadyUsed)
        }

        @Test("all that is in flight to a hung server is answered within the deadline")
        func hungPipeline() throws {
            let server = try RedisServer()
            let loop = try EventLoop()
            _ = try Store.open(server.url)
            let client = RedisReplayClient(try RedisConfiguration(url: server.url), on: loop)
            var answers: [Result<ReplayAnswer, ReplayCacheError>] = []
            client.claim([Store.claim(0)], at: Store.now) { answers += $0 }
            loop.run { answers.count == 1 }
            #expect(try answers[0].get() == .first)
            server.signal(SIGSTOP)
            let time = ContinuousClock().measure {
                for number in 1...500 as ClosedRange<UInt64> {
                    client.claim([Store.claim(number)], at: Store.now) { answers += $0 }
                }
                loop.run { answers.count == 501 }
            }
            #expect(answers.dropFirst().allSatisfy { (try? $0.get()) == nil })
            #expect(time < .seconds(1), "\(time)")
            server.signal(SIGCONT)
        }

        @Test("out of memory it is full, forgets nothing, and has room again when it is given some")
        func outOfMemory() throws {
            let server = try RedisServer(["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"])
            let store = try Store.open(server.url)
            var number: UInt64 = 0
            var fault: ReplayCacheError?
            while fault == nil, number < 200_000 {
                let group = (0..<100 as Range<UInt64>).map { Store.claim(number + $0) }
                for answer in store.claim(group, at: Store.now) {
                    do throws(ReplayCacheError) { #expect(try answer.get() == .first) } catch { fault = fault ?? error }
                }
                number += 100
            }
            #expect(fault == .full("\(server.url) has reached its maxmemory"))
            for known in stride(from: 0, to: number - 100, by: 501) {
                #expect((try? store.claim(Store.claim(known), at: Store.now)) != .first)
            }
            try server.cli("config", "set", "maxmemory", "100mb")
            #expect(try store.claim(Store.claim(number), at: Store.now) == .first)
            #expect(try store.claim(Store.claim(0), at: Store.now) == .alreadyUsed)
        }

        @Test("while it loads its data it cannot tell, and serves within a second after")
        func loading() throws {
            let slow = [
                "--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "300",
                "--loading-process-events-interval-bytes", "1024",
            ]
            let server = try RedisServer(slow)
            let store = try Store.open(server.url, timeoutMilliseconds: Self.deadline)
            let patient = try Store.open(server.url)
            let group = (0..<5000 as Range<UInt64>).map { Store.claim($0) }
            #expect(patient.claim(group, at: Store.now).allSatisfy { (try? $0.get()) == .first })
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
            #expect(servesWithinASecond(store, from: 200_000))
            let again = patient.claim(group, at: Store.now)
            #expect(again.allSatisfy { (try? $0.get()) == .alreadyUsed }, "\(again[0]), \(again[4999])")
        }

        @Test("restarted without appendonly it has no past, whatever a snapshot brings back, and is fenced")
        func snapshot() throws {
            let server = try RedisServer()
            let store = try Store.open(server.url)
            #expect(try store.claim(Store.claim(1), at: Store.now) == .first)
            try server.cli("save")
            #expect(try store.claim(Store.claim(2), at: Store.now) == .first)
            server.end(SIGKILL)
            try server.start()
            let restart = Store.later(1000)
            #expect(try store.claim(Store.claim(2), at: restart).isFenced(from: restart))
            #expect(try store.claim(Store.claim(1), at: restart).isFenced(from: restart))
            let fresh = Store.claim(3, issued: Store.later(20_000))
            #expect(try store.claim(fresh, at: Store.later(20_000)) == .first)
        }

        @Test(
            "its server killed at fifty moments under appendonly, it never answers first twice",
            arguments: ["everysec", "always"])
        func serverKilled(sync: String) throws {
            let server = try RedisServer(["--appendonly", "yes", "--appendfsync", sync])
            let store = try Store.open(server.url)
            var (known, fenced, twice, number) = (0, 0, 0, UInt64(0))
            for round in 0..<50 as Range<Int64> {
                // Issued after the fence that the restart before may have set.
                let time = Store.later(round * 10_000)
                server.signal(SIGKILL, afterMilliseconds: 20 + Int(round))
                var accepted: [ReplayClaim] = []
                while true {
                    let claim = Store.claim(number, issued: time)
                    number += 1
                    guard let answer = try? store.claim(claim, at: time) else { break }
                    if answer == .first { accepted.append(claim) }
                }
                server.end(SIGKILL)
                try server.start()
                #expect(servesWithinASecond(store, from: (UInt64(round) + 1) << 32, at: time))
                for answer in store.claim(accepted, at: time) {
                    switch try answer.get() {
                    case .first: twice += 1
                    case .alreadyUsed: known += 1
                    case .predatesStore: fenced += 1
                    }
                }
            }
            print("appendfsync \(sync): \(known) known, \(fenced) behind the fence, \(twice) accepted twice")
            #expect(twice == 0)
            #expect(known + fenced > 1000, "hardly anything came to be claimed")
            // Where nothing can be lost, nothing is fenced.
            #expect(sync != "always" || fenced == 0)
        }

        @Test("without file descriptors what is open goes on, and opening is an error until there are some")
        func noDescriptors() throws {
            let server = try RedisServer()
            let worker = try Worker(["starve", server.url, server.url + "?prefix=other"], at: Store.now)
            let lines = try worker.finish().split(separator: "\n").map(String.init)
            #expect(lines.contains("before: first") && lines.contains("known minute: first"), "\(lines)")
            #expect(lines.contains { $0.hasPrefix("other store: ") && $0.contains("file descriptors") }, "\(lines)")
            #expect(lines.contains("other store again: opened"), "\(lines)")
        }
    }
}
