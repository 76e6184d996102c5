import Basics
import Foundation
import MediaToken
import ReplayStoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ReplayRedis

extension ReplayStoreTests {
    @Suite("Quorum of Redis servers")
    struct RedisQuorumTests {
        private let clock = RedisClock()

        private static let (early, late) = (Timestamp(milliseconds: 1000), Timestamp(milliseconds: 2000))
        private static let away = QuorumVote.Answer.failure(.unavailable("away"))

        /// Votes as letters (first, used, repeated early or late, fenced early or late, away), and what they result in.
        @Test(
            "a majority of first uses accepts, and nothing less does",
            arguments: [
                ("f", nil), ("ff", "f"), ("fu", nil), ("fuf", "f"), ("fuu", "u"), ("uu", "u"),
                ("fp", nil), ("fpf", "f"), ("fpP", "p"), ("pP", nil), ("pPP", "P"), ("Ppp", "p"), ("pP-", "P"),
                ("fpu", "u"),
                ("up", nil), ("upp", "p"), ("upu", "u"), ("up-", "u"), ("upf", "u"),
                ("f-", nil), ("f-f", "f"), ("f-u", "u"), ("f--", "-"), ("--", nil), ("--u", "-"), ("--f", "-"),
                ("---", "-"), ("p-", nil), ("p-p", "p"), ("p-f", "-"), ("fr", nil), ("frf", "f"), ("fr-", "r"),
                ("rR", "r"), ("Rr", "r"),
                ("ru", nil), ("rur", "r"), ("rfu", "r"), ("rff", "f"), ("ruu", "u"), ("!", "!"), ("f!", "!"),
                ("u!", "!"),
            ])
        func votes(letters: String, expected: Character?) throws {
            let meanings: [Character: QuorumVote.Answer] = [
                "f": .success(.first), "u": .success(.alreadyUsed), "-": Self.away,
                "r": .success(.repeated(since: Self.early)), "R": .success(.repeated(since: Self.late)),
                "p": .success(.predatesStore(since: Self.early)), "P": .success(.predatesStore(since: Self.late)),
                "!": .failure(.conflicting("other hosts")),
            ]
            var vote = QuorumVote(claims: 1, servers: 3)
            var decided: QuorumVote.Answer?
            for letter in letters where decided == nil {
                vote.add([try #require(meanings[letter])])
                decided = vote.answers?[0]
            }
            guard let expected else { return #expect(decided == nil, "\(String(describing: decided))") }
            if expected == "-" {
                #expect(
                    decided?.failure != nil && decided?.conflict == nil, "\(letters): \(String(describing: decided))")
            } else {
                #expect(decided == meanings[expected], "\(letters): \(String(describing: decided))")
            }
        }

        @Test("of five servers three have to agree")
        func five() {
            var vote = QuorumVote(claims: 1, servers: 5)
            for answer in [.success(.first), Self.away, .success(.first)] as [QuorumVote.Answer] { vote.add([answer]) }
            #expect(vote.answers == nil)
            vote.add([.success(.alreadyUsed)])
            #expect(vote.answers == nil)
            vote.add([.success(.first)])
            #expect(vote.answers == [.success(.first)])
        }

        @Test("a group is decided when its last claim is")
        func group() {
            var vote = QuorumVote(claims: 2, servers: 3)
            vote.add([.success(.first), .success(.first)])
            vote.add([.success(.first), .success(.alreadyUsed)])
            #expect(vote.answers == nil)
            vote.add([.success(.alreadyUsed), .success(.alreadyUsed)])
            #expect(vote.answers == [.success(.first), .success(.alreadyUsed)])
        }

        @Test(
            "one server of three may be away, or come back empty, and costs nothing; two that are away decide nothing")
        func losses() throws {
            let quorum = try RedisQuorum()
            let store = try clock.open(quorum.url, timeoutMilliseconds: 5000)
            let used = clock.claim(1)
            #expect(try store.claim(used, at: clock.now) == .first)
            quorum.servers[0].end(SIGKILL)
            #expect(try store.claim(used, at: clock.now) == .alreadyUsed)
            #expect(try store.claim(clock.claim(2), at: clock.now) == .first)
            // A process that begins now has the same store.
            let other = try clock.open(quorum.url, timeoutMilliseconds: 5000)
            #expect(try other.claim(clock.claim(2), at: clock.now) == .alreadyUsed)
            #expect(try other.claim(clock.claim(3), at: clock.now) == .first)
            // It has no vote for tokens that were issued before it began again.
            try quorum.servers[0].start()
            quorum.servers[1].end(SIGKILL)
            #expect(try store.claim(used, at: clock.now) == .alreadyUsed)
            #expect(message { _ = try store.claim(clock.claim(4), at: clock.now) }.contains("1 of 3 servers cannot"))
            let later = clock.later(20_000)
            #expect(try store.claim(clock.claim(5, issued: later), at: later) == .first)
            quorum.servers[2].end(SIGKILL)
            let text = message { _ = try store.claim(clock.claim(6, issued: later), at: later) }
            for server in quorum.servers.dropFirst() { #expect(text.contains(":\(server.port) "), "\(text)") }
            #expect(text.contains("2 of 3 servers cannot be relied on"), "\(text)")
        }

        @Test("a server votes in one quorum: another list of hosts, or none, is refused, and changes nothing")
        func conflicts() throws {
            let quorum = try RedisQuorum()
            let store = try clock.open(quorum.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            let further = try RedisServer()
            let lone = quorum.servers[2].url
            let others = [quorum.url(of: [0, 1, further.port]), quorum.url(of: [0, further.port, 9]), lone]
            for (number, url) in zip(10..<13 as Range<UInt64>, others) {
                let other = RedisReplayStore(try RedisConfiguration.exact(url))
                let text = message { try other.open(at: .now) }
                #expect(text.contains("name different servers") && text.contains("same hosts"), "\(text)")
                #expect(
                    message { _ = try other.claim(clock.claim(number), at: clock.now) }.contains(
                        "name different servers"))
                #expect(message { _ = try other.find(question(1), at: clock.now) }.contains("name different servers"))
            }
            #expect(try store.claim(clock.claim(3), at: clock.now) == .first)
            // The order of the hosts is no difference.
            #expect(try clock.open(quorum.url(of: [2, 0, 1])).claim(clock.claim(3), at: clock.now) == .alreadyUsed)
            // A server that decided alone is none of a quorum either.
            let alone = try RedisServer()
            #expect(try clock.open(alone.url).claim(clock.claim(1), at: clock.now) == .first)
            let late = RedisReplayStore(try RedisConfiguration.exact(quorum.url(of: [alone.port, 0, 1])))
            #expect(message { try late.open(at: .now) }.contains("belongs to "))
        }

        private func question(_ number: UInt64) -> ReplayQuestion {
            let claim = clock.claim(number)
            return ReplayQuestion(key: claim.key, issued: claim.issued, until: claim.until)
        }

        @Test("no key is first twice, however many claim it at once through connections of their own")
        func race() throws {
            let quorum = try RedisQuorum()
            let firsts = Mutex<[ReplayKey: Int]>([:])
            let callers = try (0..<6).map { _ in try clock.open(quorum.url) }
            DispatchQueue.concurrentPerform(iterations: callers.count) { caller in
                for number in 0..<300 as Range<UInt64> {
                    let claim = clock.claim(number)
                    guard case .success(.first)? = callers[caller].claim([claim], at: clock.now).first else { continue }
                    firsts.withLock { $0[claim.key, default: 0] += 1 }
                }
            }
            #expect(firsts.withLock { $0.values.allSatisfy { $0 == 1 } })
            #expect(try callers[0].claim(clock.claim(300), at: clock.now) == .first)
        }

        @Test("the store tells what it holds, what a token would find, and since when a majority remembers")
        func inventory() throws {
            let quorum = try RedisQuorum()
            let store = try clock.open(quorum.url)
            let fence = try #require(try store.report(at: clock.now).fence)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            #expect(try store.contents().entries == 1)
            #expect(try store.find(question(1), at: clock.now).use == .used(since: nil))
            #expect(try store.find(question(2), at: clock.now).use == .unused)
            #expect(try store.advice() == nil)
            // One server that forgot leaves the fence, but for the time between two servers; a second one moves it.
            try quorum.servers[0].cli("flushall")
            #expect(try #require(store.report(at: clock.now).fence) < fence.moved(600_000))
            #expect(try store.find(question(1), at: clock.now).use == .used(since: nil))
            try quorum.servers[1].cli("flushall")
            #expect(try #require(store.report(at: clock.now).fence) >= clock.now)
        }

        @Test("a server that hangs is reported, without delay from the second time on, until it goes on")
        func report() throws {
            let quorum = try RedisQuorum()
            let store = try clock.open(quorum.url, timeoutMilliseconds: 2000)
            func problems() throws -> [String?] {
                try store.report(at: clock.now).servers.map { $0.problem?.description }
            }
            #expect(try problems() == [nil, nil, nil])
            quorum.servers[2].signal(SIGSTOP)
            #expect(try Program.wait { try problems()[2]?.contains(":\(quorum.servers[2].port) ") == true })
            for _ in 0..<10 { #expect(try problems()[2] != nil && problems()[..<2] == [nil, nil]) }
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            quorum.servers[2].signal(SIGCONT)
            #expect(try Program.wait { try problems() == [nil, nil, nil] })
            quorum.servers[0].end(SIGKILL)
            #expect(try Program.wait { try problems()[0] != nil })
        }

        @Test("a wrong list of hosts begins nothing: not on an empty server, and not while one of a new store is away")
        func beginnings() throws {
            let quorum = try RedisQuorum()
            let away = try FreePort.take(1)[0]
            let url = quorum.url(of: [0, 1, away])
            let text = message { _ = try clock.open(url, timeoutMilliseconds: 2000) }
            #expect(text.contains("begins only when all") && text.contains(":\(away) "), "\(text)")
            let store = try clock.open(quorum.url)
            try quorum.servers[0].cli("flushall")
            let further = try RedisServer()
            #expect(message { _ = try clock.open(quorum.url(of: [0, 1, further.port])) }.contains("name different"))
            for server in [quorum.servers[0], further] { #expect(try server.cli("keys", "*") == "") }
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
        }

        @Test("a server that says late that it belongs to another quorum is believed, until its marker is gone")
        func lateConflict() throws {
            let quorum = try RedisQuorum()
            _ = try clock.open(quorum.url)
            let others = try [RedisServer(), RedisServer()]
            quorum.servers[2].signal(SIGSTOP)
            let url = quorum.url(of: [2] + others.map(\.port))
            var configuration = try RedisConfiguration.exact(url)
            configuration.timeout = .milliseconds(2000)
            let store = RedisReplayStore(configuration)
            // As a process that had opened the store before: its claim sets the markers of the other two.
            _ = store.claim([clock.claim(1)], at: clock.now)
            let later = clock.later(20_000)
            func refusal(_ number: UInt64) -> String {
                message { _ = try store.claim(clock.claim(number, issued: later), at: later) }
            }
            #expect(refusal(2) == "no error")
            quorum.servers[2].signal(SIGCONT)
            var number: UInt64 = 2
            #expect(
                Program.wait {
                    number += 1
                    return refusal(number).contains("name different servers")
                })
            for number in 10_000..<10_020 as Range<UInt64> {
                #expect(refusal(number).contains("name different servers"))
            }
            // A process that begins now learns it too if the other quorum has accepted each of its tokens before.
            let owner = RedisReplayStore(try RedisConfiguration.exact(quorum.url))
            let next = RedisReplayStore(configuration)
            number = 15_000
            let isTold = try Program.wait {
                number += 1
                let claim = clock.claim(number, issued: later)
                guard try owner.claim(claim, at: later) == .first else { return true }
                return message { _ = try next.claim(claim, at: later) }.contains("name different servers")
            }
            #expect(isTold)
            #expect(message { _ = try next.claim(clock.claim(30_000, issued: later), at: later) }.contains("different"))
            try quorum.servers[2].cli("del", "media-token:{00}:since")
            _ = try store.report(at: clock.now)
            #expect(refusal(20_000) == "no error")
        }

        @Test("a server that has the memory of another member, or two names, has one vote")
        func copies() throws {
            let quorum = try RedisQuorum(["--repl-diskless-sync-delay", "0"])
            let store = try clock.open(quorum.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            let (copy, origin) = (quorum.servers[0], quorum.servers[2])
            try copy.cli("replicaof", "127.0.0.1", "\(origin.port)")
            #expect(try Program.wait { try copy.cli("info", "replication").contains("master_link_status:up") })
            try copy.cli("replicaof", "no", "one")
            #expect(try Program.wait { try copy.cli("info", "replication").contains("role:master") })
            func problem(of number: Int) throws -> String {
                try store.report(at: clock.now).servers[number].problem?.description ?? ""
            }
            #expect(try problem(of: 0).contains("has the memory of 127.0.0.1:\(origin.port)"))
            #expect(try store.claim(clock.claim(2), at: clock.now) == .first)
            try copy.cli("flushall")
            #expect(try problem(of: 0) == "")
            let lone = try RedisServer()
            let names = ["127.0.0.1", "localhost", "127.1"].map { "\($0):\(lone.port)" }.joined(separator: ",")
            let twice = RedisReplayStore(try RedisConfiguration.exact("redis://\(names)?quorum=true"))
            try twice.open(at: .now)
            #expect(message { _ = try twice.report(at: clock.now) }.contains("2 of 3 servers cannot be relied on"))
        }
    }
}
