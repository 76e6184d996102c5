import Dispatch
import Glibc
import MediaToken
import Synchronization
import TestSupport
import Testing

@Suite("Memory replay store")
struct MemoryReplayStoreTests {
    private let issued = Timestamp(milliseconds: 1_700_000_000_000)

    private func claim(_ number: UInt64, issued: Timestamp, life: Int64 = 420_000) -> ReplayClaim {
        let word = number &* 0x9E37_79B9_7F4A_7C15
        let until = Timestamp(milliseconds: issued.milliseconds + life)
        return ReplayClaim(key: ReplayKey(words: (word, word << 8, number, 0)), issued: issued, until: until)
    }

    @Test("full is an error, no live entry is forgotten, and there is room again when a bucket has passed")
    func capacity() throws {
        let cache = MemoryReplayStore.unfenced(capacity: 100)
        for number in 0..<100 as Range<UInt64> {
            #expect(try cache.claim(claim(number, issued: issued), at: issued) == .first)
        }
        #expect(throws: ReplayStoreError.full("it may hold 100 live entries")) {
            try cache.claim(claim(100, issued: issued), at: issued)
        }
        for number in 0..<100 as Range<UInt64> {
            #expect(try cache.claim(claim(number, issued: issued), at: issued) == .alreadyUsed)
        }
        #expect(cache.count == 100)
        let later = Timestamp(milliseconds: issued.milliseconds + 3_600_000)
        // A shard drops what has passed when it is asked next; these go to every shard.
        for number in 1000..<8000 as Range<UInt64> { _ = try? cache.claim(claim(number, issued: later), at: later) }
        #expect(cache.count == 100)
        let muchLater = Timestamp(milliseconds: issued.milliseconds + 86_400_000)
        #expect(try cache.claim(claim(9000, issued: muchLater), at: muchLater) == .first)
    }

    @Test("of two threads that claim one key at the same moment, one is first, each time")
    func sameMoment() {
        let (store, rounds) = (MemoryReplayStore.unfenced(), UInt64(100_000 / Program.slowness))
        let arrivals = Atomic<UInt64>(0)
        let first = Atomic<UInt64>(0)
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            for round in 0..<rounds {
                // Neither begins a round before the other has come to it.
                arrivals.add(1, ordering: .acquiringAndReleasing)
                var looks = 0
                while arrivals.load(ordering: .acquiring) < 2 * (round + 1) {
                    looks += 1
                    if looks % 1000 == 0 { sched_yield() }
                }
                if (try? store.claim(claim(round, issued: issued), at: issued)) == .first {
                    first.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(first.load(ordering: .relaxed) == rounds)
    }

    @Test("tokens issued up to the fence cannot be shown unused")
    func fence() throws {
        let cache = MemoryReplayStore(fencedAt: issued)
        let before = Timestamp(milliseconds: issued.milliseconds - 1)
        let after = Timestamp(milliseconds: issued.milliseconds + 1)
        #expect(try cache.claim(claim(1, issued: before), at: after) == .predatesStore(since: issued))
        #expect(try cache.claim(claim(2, issued: issued), at: after) == .predatesStore(since: issued))
        #expect(try cache.claim(claim(3, issued: after), at: after) == .first)
    }

    @Test("a minute is remembered until it is dropped, and stays shut when the clock goes back")
    func droppedMinute() throws {
        let cache = MemoryReplayStore.unfenced()
        let used = claim(1, issued: issued)
        #expect(try cache.claim(used, at: issued) == .first)
        // The minute of expiry ends here, and is dropped when no policy accepts its tokens any more.
        let end = Timestamp(milliseconds: (used.until.milliseconds / 60_000 + 1) * 60_000)
        let dropping = end.advanced(byMilliseconds: VerificationPolicy.largestClockSkew.components.seconds * 1000)
        cache.sweep(at: dropping.advanced(byMilliseconds: -1))
        #expect(try cache.claim(used, at: issued) == .alreadyUsed)
        cache.sweep(at: dropping)
        #expect(cache.count == 0)
        #expect(try cache.claim(used, at: issued) == .predatesStore(since: end))
        #expect(try cache.claim(claim(2, issued: issued), at: issued) == .predatesStore(since: end))
        #expect(try cache.claim(claim(3, issued: issued, life: 480_000), at: issued) == .first)
    }

    @Test("a full store makes the verifier unable to tell")
    func fullVerifier() throws {
        let verifier = try Mint.verifier(replays: MemoryReplayStore.unfenced(capacity: 0))
        #expect(throws: VerificationError.self) { try verifier.verify(Mint.token()) }
    }

    @Test("a full store still knows who has used what")
    func fullWithMarks() throws {
        let cache = MemoryReplayStore.unfenced(capacity: 1)
        let key = claim(1, issued: issued).key
        let (mine, other) = (try RetryFingerprint(of: key, secret: [1]), try RetryFingerprint(of: key, secret: [2]))
        func answer(_ mark: RetryFingerprint?) throws -> ReplayAnswer {
            let until = issued.advanced(byMilliseconds: 60_000)
            return try cache.claim(
                ReplayClaim(key: key, issued: issued, until: until, fingerprint: mark), at: issued)
        }
        #expect(try answer(mine) == .first)
        #expect(try answer(mine) == .repeated(since: issued))
        #expect(try answer(other) == .alreadyUsed)
        #expect(try answer(nil) == .alreadyUsed)
    }

    @Test("a mark is of its key and its secret, and is read back from its text alone")
    func marks() throws {
        let (key, other) = (claim(1, issued: issued).key, claim(2, issued: issued).key)
        let mark = try RetryFingerprint(of: key, secret: [1])
        #expect(try mark == RetryFingerprint(of: key, secret: [1]))
        #expect(
            try mark != RetryFingerprint(of: key, secret: [2]) && mark != RetryFingerprint(of: other, secret: [1]))
        let use = try #require(
            FingerprintedUse(ReplayClaim(key: key, issued: issued, until: issued, fingerprint: mark), at: issued))
        #expect(FingerprintedUse(use.text) == use)
        #expect(use.fingerprint == mark && use.time == issued)
        // It stays the same from version to version, as do the stores that have it.
        let fixed = ReplayKey(words: (1, 2, 3, 4))
        let first = ReplayClaim(
            key: fixed, issued: issued, until: issued, fingerprint: try RetryFingerprint(of: fixed, secret: [1]))
        #expect(FingerprintedUse(first, at: issued)?.text == "3a9838d5c299867a31ef55f25751305a0000018bcfe56800")
        #expect(fixed.half == SIMD2(2, 3))
        for text in [
            "", use.text + "0", use.text + use.text, String(use.text.dropLast()), "g" + use.text.dropFirst(),
            "+" + use.text.dropFirst(),
        ] {
            #expect(FingerprintedUse(text) == nil, "\(text)")
        }
    }

    @Test("what expires before 1970 or after 9999 has a bucket too")
    func buckets() {
        #expect(
            [.min, -60_000, -1, 0, 59_999, 60_000, .max].map {
                ReplayBucket(expiring: Timestamp(milliseconds: $0)).index
            } == [0, 0, 0, 0, 0, 1, 4_223_371_680])
        for (index, begin, end) in [(0, 0, 60_000), (.min, .min, .min), (.max, .max, .max)] as [(Int64, Int64, Int64)] {
            let bucket = ReplayBucket(index: index)
            #expect([bucket.begin.milliseconds, bucket.end.milliseconds] == [begin, end])
        }
    }

    @Test("a key is its whole digest, and is used once also where little of that is not zero")
    func keys() throws {
        let keys = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 0), (0, 0, 0, 1)].map(ReplayKey.init(words:))
        for (number, key) in keys.enumerated() {
            #expect(keys.map { $0 == key } == keys.indices.map { $0 == number })
            let (store, claim) = (MemoryReplayStore.unfenced(), ReplayClaim(key: key, issued: issued, until: issued))
            #expect(try store.claim(claim, at: issued) == .first)
            #expect(try store.claim(claim, at: issued) == .alreadyUsed)
        }
    }

    @Test("a store has as many tokens in each minute as were claimed, and as many bytes for each as it should")
    func contents() throws {
        let fence = issued.advanced(byMilliseconds: -1)
        let (plain, retried) = (MemoryReplayStore(fencedAt: fence), MemoryReplayStore.unfenced())
        for number in 1...300 as ClosedRange<UInt64> {
            let key = ReplayKey(words: (0, number &* 0x9E37_79B9_7F4A_7C15, number, 0))
            let fingerprint = try RetryFingerprint(of: key, secret: [1])
            let claims = [nil, fingerprint].map {
                ReplayClaim(key: key, issued: issued, until: issued, fingerprint: $0)
            }
            #expect(try plain.claim(claims[0], at: issued) == .first)
            #expect(try retried.claim(claims[1], at: issued) == .first)
            let bytes = try #require(plain.contents().bytes)
            #expect(number < 7 ? bytes == 128 : (20...30).contains(Double(bytes) / Double(number)), "\(bytes)")
        }
        #expect(try #require(retried.contents().bytes) - #require(plain.contents().bytes) >= 300 * 48)
        _ = try plain.claim(claim(301, issued: issued), at: issued)
        let contents = plain.contents()
        #expect(contents.entries == 301 && contents.fence == fence && retried.contents().fence == nil)
        #expect(contents.buckets.map(\.entries) == [300, 1])
        #expect(contents.buckets[0].begin <= issued && issued < contents.buckets[0].end)
    }

    @Test("an index finds what was claimed, and what another process has recorded, until that is dropped")
    func index() throws {
        var index = ReplayIndex()
        let (plain, other) = (claim(1, issued: issued), claim(2, issued: issued))
        let fingerprint = try RetryFingerprint(of: plain.key, secret: [1])
        let retried = ReplayClaim(
            key: plain.key, issued: issued, until: plain.until, fingerprint: fingerprint)
        func use(_ claim: ReplayClaim) -> ReplayLookupResult.Use {
            index.find(ReplayQuestion(key: claim.key, issued: claim.issued, until: claim.until))
        }
        let (bucket, recorded) = (ReplayBucket(expiring: plain.until), FingerprintedUse(retried, at: issued))
        #expect(use(plain) == .unused && index.use(before: plain) == nil)
        let first = index.claim(retried, at: issued)
        #expect(first == .first && use(plain) == .used(since: issued))
        #expect(use(other) == .unused && index.use(before: other) == nil)
        let inserted = [nil, recorded].map { index.insert(other.key.half, in: bucket, $0) }
        #expect(inserted == [true, false] && use(other) == .used(since: nil))
        let dropped = [-1, 0, 0].map { index.drop(through: ReplayBucket(index: bucket.index + $0)) }
        #expect(dropped == [0, 2, 0])
        #expect(use(plain) == .unused && index.dropped == bucket)
    }

    @Test("a hundred thousand entries are all found again")
    func many() throws {
        let cache = MemoryReplayStore.unfenced()
        let claims = (0..<100_000 as Range<UInt64>).map { claim($0, issued: issued) }
        for answer in [ReplayAnswer.first, .alreadyUsed] {
            #expect(cache.claim(claims, at: issued).allSatisfy { $0 == .success(answer) })
        }
        #expect(cache.count == 100_000)
    }

    @Test("absurd times are no crash", arguments: [.min, .min + 1, -1, 0, 253_402_300_799_999] as [Int64])
    func absurdTimes(milliseconds: Int64) throws {
        let cache = MemoryReplayStore.unfenced()
        let time = Timestamp(milliseconds: milliseconds)
        let claim = ReplayClaim(key: ReplayKey(words: (1, 2, 3, 4)), issued: time, until: time)
        #expect(try cache.claim(claim, at: time) == .first)
        #expect(try cache.claim(claim, at: time) == .alreadyUsed)
        _ = try cache.claim(claim, at: Timestamp(milliseconds: 0))
        // A clock beyond the year 9999 says that every token has expired.
        let end = Timestamp(milliseconds: .max)
        let last = ReplayClaim(key: ReplayKey(words: (5, 6, 7, 8)), issued: end, until: end)
        #expect(try cache.claim(last, at: end) != .first)
    }
}
