import Foundation
import MediaToken
import ReplayStores
import Synchronization
import TestSupport
import Testing

/// The stores that keep the contract. A further one is a further case.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, lmdb

    var testDescription: String { rawValue }

    /// Of those that several processes can share.
    static let shared: [StoreKind] = [.lmdb]
}

/// A store that is empty, and what it lives in. Its fence, where it has one, is before all that the tests claim.
final class TestStore {
    let url: String
    let cache: any ReplayCache
    private let directory: TemporaryDirectory
    private let store: ReplayStore

    init(_ kind: StoreKind) throws {
        directory = try TemporaryDirectory()
        url = kind == .memory ? "memory" : "lmdb:\(directory.path)/replays"
        store = try ReplayStore(opening: url, at: Timestamp(milliseconds: 1_600_000_000_000))
        cache = store.cache
    }

    func close() throws {
        try store.close()
    }
}

/// What every replay store must do; see `ReplayCache`.
@Suite("Replay store contract", .serialized)
struct ReplayCacheContract {
    private static let issued = Timestamp(milliseconds: 1_700_000_000_000)
    private static let minute: Int64 = 60_000
    /// After this much more than its life, no policy accepts a token any more.
    private static let skew = VerificationPolicy.largestClockSkew.components.seconds * 1000

    private func later(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: Self.issued.milliseconds + milliseconds)
    }

    private func claim(_ number: UInt64, life: Int64 = 7 * minute) -> ReplayClaim {
        // Spread as a digest is.
        let word = number &* 0x9E37_79B9_7F4A_7C15
        let key = ReplayKey(words: (word, word &+ 1, number, ~word))
        return ReplayClaim(key: key, issued: Self.issued, until: later(life))
    }

    @Test("a key is first once", arguments: StoreKind.allCases)
    func once(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let cache = store.cache
        for number in 0..<100 as Range<UInt64> {
            #expect(try cache.claim(claim(number), at: Self.issued) == .first)
        }
        for number in 0..<100 as Range<UInt64> {
            #expect(try cache.claim(claim(number), at: later(Self.minute)) == .alreadyUsed)
        }
    }

    @Test("keys that agree in part are different keys", arguments: StoreKind.allCases)
    func similarKeys(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let cache = store.cache
        for words in [(1, 2, 3, 4), (1, 2, 4, 4), (1, 3, 3, 4), (1, 0, 0, 0)] as [(UInt64, UInt64, UInt64, UInt64)] {
            let claim = ReplayClaim(key: ReplayKey(words: words), issued: Self.issued, until: later(Self.minute))
            #expect(try cache.claim(claim, at: Self.issued) == .first)
            #expect(try cache.claim(claim, at: Self.issued) == .alreadyUsed)
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
            #expect(try cache.claim(claim, at: Self.issued) == .first)
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
        #expect(try cache.claim(claim(1), at: Self.issued) == .first)
        let farAhead = later(86_400_000)
        let fresh = ReplayClaim(key: claim(2).key, issued: farAhead, until: later(86_400_000 + Self.minute))
        #expect(try cache.claim(fresh, at: farAhead) == .first)
        for shard in 0..<256 as Range<UInt64> {
            let key = ReplayKey(words: (shard << 56, shard, 5, 5))
            let other = ReplayClaim(key: key, issued: farAhead, until: fresh.until)
            #expect(try cache.claim(other, at: farAhead) == .first)
        }
        guard case .predatesStore = try cache.claim(claim(1), at: Self.issued) else {
            Issue.record("a key that was dropped was taken for unused")
            return
        }
    }

    @Test("a group is decided in order", arguments: StoreKind.allCases)
    func groups(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let cache = store.cache
        let answers = cache.claim([claim(1), claim(2), claim(1), claim(3), claim(2)], at: Self.issued)
        #expect(try answers.map { try $0.get() } == [.first, .first, .alreadyUsed, .first, .alreadyUsed])
        #expect(cache.claim([], at: Self.issued).isEmpty)
    }

    @Test("64 threads with the same 10,000 keys get 10,000 times first", arguments: StoreKind.allCases)
    func race(kind: StoreKind) throws {
        let store = try TestStore(kind)
        let cache = store.cache
        let firsts = Atomic<Int>(0)
        let others = Atomic<Int>(0)
        let threads = (0..<64).map { thread in
            Thread {
                for position in 0..<10_000 {
                    // Each thread goes through the keys from another place.
                    let number = UInt64((position + thread * 157) % 10_000)
                    switch try? cache.claim(self.claim(number), at: Self.issued) {
                    case .first: firsts.add(1, ordering: .relaxed)
                    case .alreadyUsed: others.add(1, ordering: .relaxed)
                    default: break
                    }
                }
            }
        }
        threads.forEach { $0.start() }
        while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
        #expect(firsts.load(ordering: .relaxed) == 10_000)
        #expect(others.load(ordering: .relaxed) == 630_000)
    }

    @Test(
        "4 processes with 64 threads each and the same 10,000 keys get 10,000 times first", arguments: StoreKind.shared)
    func processRace(kind: StoreKind) throws {
        let store = try TestStore(kind)
        try store.close()
        let workers = try (0..<4).map { _ in try Worker(["race", store.url, "64", "10000"]) }
        let firsts = try workers.map { try $0.finish() }
        #expect(firsts.compactMap { Int($0) }.reduce(0, +) == 10_000, "\(firsts)")
    }
}
