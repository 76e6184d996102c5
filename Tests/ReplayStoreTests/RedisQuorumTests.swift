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

        /// Votes as letters: first, used, repeated early or late, fenced early or late, away; and what they come to.
        @Test(
            "a majority of first uses accepts, and nothing less does",
            arguments: [
                ("f", nil), ("ff", "f"), ("fu", nil), ("fuf", "f"), ("fuu", "u"), ("uu", "u"),
                ("fp", nil), ("fpf", "f"), ("fpP", "p"), ("pP", "p"), ("Pp", "p"), ("PP", "P"), ("fpu", "u"),
                ("up", nil), ("upp", "p"), ("upu", "u"), ("up-", "u"), ("upf", "u"),
                ("f-", nil), ("f-f", "f"), ("f-u", "u"), ("f--", "-"), ("--", nil), ("--u", "u"), ("--f", "-"),
                ("---", "-"), ("p-", nil), ("p-p", "p"), ("p-f", "-"), ("fr", "r"), ("rR", "r"), ("Rr", "r"),
                ("ru", nil), ("rur", "r"), ("ruu", "u"), ("!", "!"), ("f!", "!"), ("u!", "!"),
            ])
        func votes(letters: String, expected: Character?) {
            let meanings: [Character: QuorumVote.Answer] = [
                "f": .success(.first), "u": .success(.alreadyUsed), "-": Self.away,
                "r": .success(.repeated(since: Self.early)), "R": .success(.repeated(since: Self.late)),
                "p": .success(.predatesStore(since: Self.early)), "P": .success(.predatesStore(since: Self.late)),
                "!": .failure(.conflicting("other hosts")),
            ]
            var vote = QuorumVote(claims: 1, servers: 3)
            var decided: QuorumVote.Answer?
            for letter in letters where decided == nil {
                vote.add([meanings[letter] ?? Self.away])
                decided = vote.answers?[0]
            }
            guard let expected else { return #expect(decided == nil, "\(String(describing: decided))") }
            if expected == "-" {
                #expect(throws: ReplayStoreError.self) { try decided?.get() }
            } else {
                #expect(decided == meanings[expected], "\(letters): \(String(describing: decided))")
            }
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
            #expect(message { _ = try store.claim(clock.claim(4), at: clock.now) }.contains("1 of 3 servers do not"))
            let later = clock.later(20_000)
            #expect(try store.claim(clock.claim(5, issued: later), at: later) == .first)
            quorum.servers[2].end(SIGKILL)
            let text = message { _ = try store.claim(clock.claim(6, issued: later), at: later) }
            for server in quorum.servers.dropFirst() { #expect(text.contains(":\(server.port) "), "\(text)") }
            #expect(text.contains("2 of 3 servers do not answer"), "\(text)")
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
                #expect(text.contains("used in two ways") && text.contains("same hosts"), "\(text)")
                #expect(
                    message { _ = try other.claim(clock.claim(number), at: clock.now) }.contains("used in two ways"))
                #expect(message { _ = try other.find(question(1), at: clock.now) }.contains("used in two ways"))
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
            #expect(firsts.withLock { $0.count } > 100)
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
            // One server that forgot leaves the fence where it was; a second moves it.
            try quorum.servers[0].cli("flushall")
            #expect(try #require(store.report(at: clock.now).fence) < fence.moved(60_000))
            #expect(try store.find(question(1), at: clock.now).use == .used(since: nil))
            try quorum.servers[1].cli("flushall")
            #expect(try #require(store.report(at: clock.now).fence) >= clock.now)
        }

        @Test("a server that hangs is reported, keeps nobody waiting, and is reported no more when it goes on")
        func report() throws {
            let quorum = try RedisQuorum()
            let store = try clock.open(quorum.url, timeoutMilliseconds: 10_000)
            func problems() throws -> [String?] {
                try store.report(at: clock.now).servers.map { $0.problem?.description }
            }
            #expect(try problems() == [nil, nil, nil])
            quorum.servers[0].end(SIGKILL)
            #expect(try Program.wait { try problems()[0]?.contains(":\(quorum.servers[0].port) ") == true })
            #expect(try problems()[1...] == [nil, nil])
            try quorum.servers[0].start()
            #expect(try Program.wait { try problems() == [nil, nil, nil] })
            quorum.servers[2].signal(SIGSTOP)
            let begun = ContinuousClock.now
            _ = try problems()
            // The server that began again has no vote for earlier ones.
            let later = clock.later(20_000)
            #expect(try store.claim(clock.claim(1, issued: later), at: later) == .first)
            #expect(ContinuousClock.now - begun < .seconds(10))
            quorum.servers[2].signal(SIGCONT)
        }
    }
}
