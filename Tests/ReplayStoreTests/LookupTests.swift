import Foundation
import MediaToken
import ReplayStoreTesting
import ReplayStores
import TestSupport
import Testing

@testable import ReplayLMDB

extension ReplayStoreTests {
    @Suite("Looking a token up in a replay store")
    struct LookupTests {
        private let directory: TemporaryDirectory
        private let clock = RedisClock()

        init() throws { directory = try TemporaryDirectory() }

        private func place(_ kind: StoreKind) throws -> (place: String, store: ConfiguredReplayStore) {
            let subject = TestSubject(kind: kind, directory: directory.path)
            let place = try subject.makePlace()
            return (place, try subject.open(place, at: .now))
        }

        private func look(_ place: String) throws -> ConfiguredReplayStore {
            try ConfiguredReplayStore(lookingAt: ReplayStoreLocation(place))
        }

        private func marked(_ claim: ReplayClaim) throws -> ReplayClaim {
            ReplayClaim(
                key: claim.key, issued: claim.issued, until: claim.until,
                fingerprint: try RetryFingerprint(of: claim.key, secret: [1]))
        }

        @Test(
            "it says whether a token is used, and since when if that is known; nothing is used up, and the store may be in use",
            arguments: [StoreKind.lmdb, .redis, .tls, .cluster])
        func finds(kind: StoreKind) throws {
            let (place, store) = try place(kind)
            let looking = try look(place)
            for number in 0..<40 as Range<UInt64> {
                let (plain, retried) = (clock.claim(3 * number), try marked(clock.claim(3 * number + 1)))
                let unused = clock.claim(3 * number + 2)
                #expect(store.claim([plain, retried], at: clock.now).allSatisfy { (try? $0.get()) == .first })
                #expect(try looking.find(plain, at: clock.now).use == .used(since: nil))
                #expect(try looking.find(retried, at: clock.now).use == .used(since: clock.now))
                #expect(try looking.find(clock.claim(3 * number + 1), at: clock.now).use == .used(since: clock.now))
                for _ in 1...2 { #expect(try looking.find(unused, at: clock.now).use == .unused) }
                #expect(try store.claim(unused, at: clock.now) == .first)
                #expect(try looking.find(unused, at: clock.now).use == .used(since: nil))
            }
            try looking.close()
            #expect(try store.claim(clock.claim(0), at: clock.now) == .alreadyUsed)
        }

        @Test(
            "a token that the store's records do not reach back to is neither used nor unused",
            arguments: [StoreKind.lmdb, .redis, .cluster])
        func fenced(kind: StoreKind) throws {
            let (place, store) = try place(kind)
            let looking = try look(place)
            let old = clock.claim(1, issued: .now.moved(-60_000))
            guard case .predatesStore(let fence) = try store.claim(old, at: .now) else {
                Issue.record("the store has no fence")
                return
            }
            #expect(try looking.find(old, at: .now).use == .predatesStore(since: fence))
            // A token of the same shard, since each has a fence of its own.
            let key = ReplayKey(words: (old.key.words.0, 1, 2, 3))
            let until = clock.claim(2).until
            let (last, first) = (
                ReplayClaim(key: key, issued: fence, until: until),
                ReplayClaim(key: key, issued: fence.moved(1), until: until)
            )
            #expect(try looking.find(last, at: .now).use == .predatesStore(since: fence))
            #expect(try looking.find(first, at: .now).use == .unused)
            // A token whose bucket has passed is one that a claim would not decide either.
            let passed = clock.claim(3)
            let end = ReplayBucket(expiring: passed.until).end
            let kept = try looking.find(passed, at: clock.now).keptUntil
            let skew = VerificationPolicy.largestClockSkew
            #expect(kept == (kind == .lmdb ? end.advanced(by: skew) : passed.until.advanced(by: skew + skew)))
            #expect(try looking.find(passed, at: end.advanced(by: skew).moved(-1)).use == .unused)
            #expect(try looking.find(passed, at: end.advanced(by: skew)).use == .forgotten)
            #expect(try store.claim(passed, at: end.advanced(by: skew).moved(-1)) == .first)
        }

        @Test("a store that does not exist is not made")
        func absent() throws {
            let path = directory.path + "/none"
            #expect(message { _ = try look("lmdb:" + path) }.contains("is no replay store"))
            #expect(!FileManager.default.fileExists(atPath: path))
            let server = try RedisServer()
            let looking = try look(server.url)
            #expect(message { _ = try looking.find(clock.claim(1), at: .now) }.contains("holds no replay store"))
            #expect(try server.cli("dbsize").hasPrefix("0"))
            #expect(throws: ReplayStoreError.self) { try look("memory").find(clock.claim(1), at: .now) }
        }

        @Test("an LMDB store that a crash of the machine may have damaged is left as it is")
        func crashed() throws {
            let path = directory.path + "/replays"
            var configuration = LMDBReplayStore.Configuration(clockSkew: .zero)
            configuration.bootIDFile = try directory.write("one\n", to: "boot")
            let first = try LMDBReplayStore(path: path, configuration: configuration, at: .now)
            #expect(try first.claim(clock.claim(1), at: clock.now) == .first)
            let before = try String(contentsOfFile: path + "/store", encoding: .utf8)
            // The kernel's own boot ID is another.
            #expect(message { _ = try look("lmdb:" + path) }.contains("may have lost records"))
            #expect(try String(contentsOfFile: path + "/store", encoding: .utf8) == before)
            #expect(try first.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            try first.close()
            // Closed in an orderly way, it can be relied on, and is closed in that way again.
            let looking = try look("lmdb:" + path)
            #expect(try looking.find(clock.claim(1), at: clock.now).use == .used(since: nil))
            try looking.close()
            let again = try LMDBReplayStore(path: path, configuration: configuration, at: .now)
            #expect(try again.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            try again.close()
        }

        @Test("a store whose files were replaced while it was looked at gets no new fence by that")
        func replaced() throws {
            let path = directory.path + "/replays"
            let first = try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: .now)
            let looking = try look("lmdb:" + path)
            try FileManager.default.removeItem(atPath: path)
            let second = try LMDBReplayStore(path: path, configuration: .init(clockSkew: .zero), at: .now)
            let fence = second.fence
            #expect(try second.claim(clock.claim(1), at: clock.now) == .first)
            #expect(try looking.find(clock.claim(1), at: clock.now).use == .used(since: nil))
            #expect(try second.claim(clock.claim(1), at: clock.now) == .alreadyUsed && second.fence == fence)
            try second.close()
            _ = first
        }

        @Test("a Redis store that has lost its past, or evicts, is told as a claim would be, and nothing is written")
        func lost() throws {
            let server = try RedisServer(["--appendonly", "yes"])
            let store = try clock.open(server.url)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            let looking = try look(server.url)
            #expect(try looking.find(clock.claim(1), at: clock.now).use == .used(since: nil))
            server.end(SIGKILL)
            try server.start()
            // Its file may lack the last claims, so a claim would move the fence to its own time.
            let marker = try server.cli("--raw", "keys", "*since")
            let before = try server.cli("get", marker.trimmingCharacters(in: .whitespacesAndNewlines))
            let skew = VerificationPolicy.largestClockSkew
            #expect(
                try look(server.url).find(clock.claim(1), at: clock.now).use
                    == .predatesStore(since: clock.now.advanced(by: skew)))
            #expect(try server.cli("get", marker.trimmingCharacters(in: .whitespacesAndNewlines)) == before)
            try server.cli("config", "set", "maxmemory-policy", "allkeys-lru")
            #expect(message { _ = try look(server.url).find(clock.claim(1), at: clock.now) }.contains("evicts"))
            server.end(SIGKILL)
        }
    }
}

extension ConfiguredReplayStore {
    /// Looks the token of a claim up.
    fileprivate func find(_ claim: ReplayClaim, at now: Timestamp) throws(ReplayStoreError) -> ReplayLookupResult {
        try find(ReplayQuestion(key: claim.key, issued: claim.issued, until: claim.until), at: now)
    }
}
