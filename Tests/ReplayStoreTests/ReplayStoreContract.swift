import Foundation
import MediaToken
import ReplayStores
import TestSupport
import Testing

extension ReplayStoreTests {
    /// What every replay store must do; see `ReplayStore`.
    @Suite("Replay store contract")
    struct ReplayStoreContract {
        /// After every store's beginning, also by the clock of its server.
        private let issued = Timestamp.now.moved(3_600_000)
        private static let minute: Int64 = 60_000
        /// After this much more than its life, no policy accepts a token any more.
        private static let skew = VerificationPolicy.largestClockSkew.components.seconds * 1000

        private func later(_ milliseconds: Int64) -> Timestamp {
            Timestamp(milliseconds: issued.milliseconds + milliseconds)
        }

        private func claim(_ number: UInt64, life: Int64 = 7 * minute, fingerprint mark: RetryFingerprint? = nil)
            -> ReplayClaim
        {
            ReplayClaim(
                key: ReplayRace.claim(number, at: issued).key, issued: issued, until: later(life), fingerprint: mark)
        }

        @Test("a key is first once", arguments: StoreKind.allCases)
        func once(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            for number in 0..<100 as Range<UInt64> {
                #expect(try cache.claim(claim(number), at: issued) == .first)
            }
            for number in 0..<100 as Range<UInt64> {
                #expect(try cache.claim(claim(number), at: later(Self.minute)) == .alreadyUsed)
            }
        }

        @Test("keys that agree in part are different keys", arguments: StoreKind.allCases)
        func similarKeys(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            for words in [(1, 2, 3, 4), (1, 2, 4, 4), (1, 3, 3, 4), (1, 0, 0, 0)] as [(UInt64, UInt64, UInt64, UInt64)]
            {
                let claim = ReplayClaim(key: ReplayKey(words: words), issued: issued, until: later(Self.minute))
                #expect(try cache.claim(claim, at: issued) == .first)
                #expect(try cache.claim(claim, at: issued) == .alreadyUsed)
            }
        }

        @Test("a key is remembered for as long as any policy may accept it", arguments: StoreKind.allCases)
        func remembered(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            let life = 7 * Self.minute
            for number in 0..<60 as Range<UInt64> {
                // Lives that end at every second of a bucket.
                let claim = claim(number, life: life + Int64(number) * 1000)
                #expect(try cache.claim(claim, at: issued) == .first)
            }
            for number in 0..<60 as Range<UInt64> {
                let claim = claim(number, life: life + Int64(number) * 1000)
                let last = Timestamp(milliseconds: claim.until.milliseconds + Self.skew)
                #expect(try cache.claim(claim, at: last) == .alreadyUsed)
            }
        }

        @Test("what has passed is never first again, even if the clock goes back", arguments: StoreKind.allCases)
        func clockGoesBack(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            #expect(try cache.claim(claim(1), at: issued) == .first)
            let farAhead = later(86_400_000)
            let fresh = ReplayClaim(key: claim(2).key, issued: farAhead, until: later(86_400_000 + Self.minute))
            #expect(try cache.claim(fresh, at: farAhead) == .first)
            for shard in 0..<256 as Range<UInt64> {
                let key = ReplayKey(words: (shard << 56, shard, 5, 5))
                let other = ReplayClaim(key: key, issued: farAhead, until: fresh.until)
                #expect(try cache.claim(other, at: farAhead) == .first)
            }
            // A store that has dropped it by now cannot show it unused; one whose server has a clock of its own has it still.
            #expect(try cache.claim(claim(1), at: issued) != .first)
        }

        @Test("no clock that steps, by seconds or by hours, makes a key first twice", arguments: StoreKind.allCases)
        func steppingClock(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            var firsts: [UInt64: Int] = [:]
            let (hour, day) = (3600, 86_400) as (Int64, Int64)
            let seconds = [0, 5, -5, 0, hour, -hour, hour + 5, 0, day, 1, 720, day - 720, 60, -day, day]
            for (step, second) in seconds.enumerated() {
                // Those of all steps ask again, and ten new ones, whose tokens are issued at that time. A server that has a clock of
                // its own is an error, where the two are far apart.
                for number in 0..<UInt64(10 * (step + 1)) {
                    let issued = later(seconds[Int(number / 10)] * 1000)
                    let claim = ReplayRace.claim(number, at: issued)
                    if (try? cache.claim(claim, at: later(second * 1000))) == .first { firsts[number, default: 0] += 1 }
                }
            }
            #expect(firsts.values.allSatisfy { $0 == 1 }, "\(firsts)")
            #expect((0..<20).allSatisfy { firsts[$0] == 1 })
        }

        @Test("a group is decided in order", arguments: StoreKind.allCases)
        func groups(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            let answers = cache.claim([claim(1), claim(2), claim(1), claim(3), claim(2)], at: issued)
            #expect(try answers.map { try $0.get() } == [.first, .first, .alreadyUsed, .first, .alreadyUsed])
            #expect(cache.claim([], at: issued).isEmpty)
        }

        @Test("a use under a mark is told again to the same mark, and to no other", arguments: StoreKind.allCases)
        func marks(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let cache = store.cache
            let key = claim(1).key
            let (mine, other) = (try RetryFingerprint(of: key, secret: [1]), try RetryFingerprint(of: key, secret: [2]))
            #expect(try cache.claim(claim(1, fingerprint: mine), at: issued) == .first)
            for (mark, answer) in [
                (mine, .repeated(since: issued)), (other, .alreadyUsed), (nil, .alreadyUsed),
                (mine, .repeated(since: issued)),
            ] as [(RetryFingerprint?, ReplayAnswer)] {
                #expect(try cache.claim(claim(1, fingerprint: mark), at: later(500)) == answer)
            }
            #expect(try cache.claim(claim(2), at: issued) == .first)
            for mark in [mine, nil, mine] {
                #expect(try cache.claim(claim(2, fingerprint: mark), at: issued) == .alreadyUsed)
            }
            let group =
                [mine, mine, other, nil, mine].map { claim(3, fingerprint: $0) } + [
                    claim(4), claim(4, fingerprint: mine),
                ]
            #expect(
                try cache.claim(group, at: issued).map { try $0.get() } == [
                    .first, .repeated(since: issued), .alreadyUsed, .alreadyUsed, .repeated(since: issued), .first,
                    .alreadyUsed,
                ])
            #expect(try store.entries() == 4)
        }

        @Test("64 threads with the same 10,000 keys get 10,000 times first", arguments: StoreKind.allCases)
        func race(kind: StoreKind) throws {
            let store = try TestStore(kind)
            let firsts = try ReplayRace.run(store.cache, threads: 64, keys: 10_000, group: kind.group, at: issued)
            #expect(firsts == 10_000)
        }

        @Test(
            "4 processes with 64 threads each and the same 10,000 keys get 10,000 times first",
            arguments: StoreKind.shared)
        func processRace(kind: StoreKind) throws {
            let store = try TestStore(kind)
            try store.close()
            let workers = try (0..<4).map { _ in
                try Worker(["race", store.url, "64", "10000", "\(kind.group)"], at: issued)
            }
            let firsts = try workers.map { try $0.finish() }
            #expect(firsts.compactMap { Int($0) }.reduce(0, +) == 10_000, "\(firsts)")
        }

        @Test("whoever claims killed at fifty moments, it never answers first twice", arguments: StoreKind.shared)
        func killed(kind: StoreKind) throws {
            let store = try TestStore(kind)
            try store.close()
            var seen: Set<String> = []
            var start = 0
            for round in 0..<50 {
                // Each worker begins before the last key that was answered, and so asks again for many of them.
                let worker = try Worker(["loop", store.url, String(max(0, start - 200))], at: issued)
                // Every fifth dies while it starts, opens its store or has just begun.
                let firsts = try worker.kill(round * 2, afterLines: round % 5 == 0 ? 0 : 25)
                for key in firsts { #expect(seen.insert(key).inserted, "key \(key) was first twice") }
                start = max(start, firsts.compactMap { Int($0) }.max() ?? 0)
            }
            #expect(seen.count >= 1000, "40 workers have printed 25 each")
            // A key that was claimed and whose answer was lost with its process is used up: safe. None beyond that is missing.
            let held = try ConfiguredReplayStore(opening: store.url).contents().entries
            #expect((seen.count...(seen.count + 50)).contains(held))
        }
    }
}
