import Foundation
import MediaToken
import MediaTokenTesting
import Synchronization
import TestSupport
import Testing

@Suite("Groups and threads")
struct GroupTests {
    private func request(_ token: String, resource: String = "TNT") -> VerificationRequest {
        VerificationRequest(token: RawToken(token), expectation: .init(requestor: "MML", resource: resource))
    }

    @Test("each verdict is its own token's, in order")
    func order() throws {
        let good = try Mint.token()
        let other = try Mint.token { $0.sessionGUID = "other" }
        let group = [
            request(""), request(good), request(try Mint.token(key: TestKeys.stranger)), request(good, resource: "TBS"),
            request(other), request(good),
        ]
        let codes = try Mint.verifier().verify(group, at: Mint.now).map { try $0.get().code }
        #expect(
            codes == [
                .invalidTokenFormat, .validToken, .invalidSignature, .invalidResourceID, .validToken, .tokenAlreadyUsed,
            ])
    }

    @Test("an empty group has no verdicts")
    func empty() throws {
        #expect(try Mint.verifier().verify([], at: Mint.now).isEmpty)
    }

    @Test("a token that is refused is not used up")
    func notUsedUp() throws {
        let verifier = try Mint.verifier()
        let token = try Mint.token()
        #expect(try verifier.code(token, for: .init(requestor: "MML", resource: "TBS")) == .invalidResourceID)
        #expect(verifier.examine(RawToken(token), for: Mint.expectation, at: Mint.now).firstFailure == nil)
        #expect(try verifier.code(token) == .validToken)
    }

    @Test("on many threads at once, each token is accepted once")
    func threads() throws {
        let verifier = try Mint.verifier()
        let tokens = try (0..<200).map { number in try Mint.token { $0.sessionGUID = "viewer \(number)" } }
        let accepted = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for token in tokens.shuffled() {
                switch try? verifier.code(token) {
                case .validToken: accepted.add(1, ordering: .relaxed)
                case .tokenAlreadyUsed: refused.add(1, ordering: .relaxed)
                default: break
                }
            }
        }
        #expect(accepted.load(ordering: .relaxed) == 200)
        #expect(refused.load(ordering: .relaxed) == 1400)
    }

    /// A store that fails as it is told to.
    private struct FaultyStore: ReplayStore {
        let answers: [Result<ReplayAnswer, ReplayStoreError>]

        func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] { answers }
    }

    /// Says what it was asked.
    private final class AskedStore: ReplayStore {
        let claims = Mutex<[ReplayClaim]>([])

        func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
            claims.withLock { $0 += group }
            return group.map { _ in .success(.first) }
        }
    }

    @Test("a store is asked to remember a token by what was signed, whatever the policy makes of its life")
    func remembered() throws {
        let lives: [(String, Int64)] = [
            ("<ttl>420000</ttl>", 420_000), ("<ttl>3600000</ttl>", 3_600_000), ("", 86_400_000), ("<ttl/>", 86_400_000),
            ("<ttl></ttl>", 86_400_000),
        ]
        for (ttl, life) in lives {
            let store = AskedStore()
            let policy = VerificationPolicy(defaultTTL: .seconds(60), maximumTTL: .seconds(60))
            let payload = Mint.payload().replacing("<ttl>420000</ttl>", with: ttl)
            #expect(try Mint.verifier(policy: policy, replays: store).code(Mint.signed(payload)) == .validToken)
            let claim = try #require(store.claims.withLock { $0.first })
            #expect(claim.issued == Mint.issued.timestamp)
            #expect(claim.until == Mint.issued.timestamp.advanced(byMilliseconds: life), "\(ttl)")
        }
    }

    @Test(
        "a caller that brings its own way to the store gets the same verdicts, and the store is asked only for what is left"
    )
    func claiming() throws {
        let verifier = try Mint.verifier(replays: FaultyStore(answers: []))
        let store = AskedStore()
        let claim: ReplayClaimer = { claims, now, completion in completion(store.claim(claims, at: now)) }
        var outcomes: [[VerdictCode?]] = []
        for tokens in [["", try Mint.token()], [""], []] {
            verifier.verify(tokens.map { request($0) }, at: Mint.now, claimingBy: claim) { verdicts, ids in
                #expect(ids.map { $0 == nil } == tokens.map(\.isEmpty))
                outcomes.append(verdicts.map { try? $0.get().code })
            }
        }
        #expect(outcomes == [[.invalidTokenFormat, .validToken], [.invalidTokenFormat], []])
        #expect(store.claims.withLock { $0.count } == 1)
    }

    @Test("a store that tells a retry to a caller who may not retry is not believed")
    func unaskedRetry() throws {
        let store = FaultyStore(answers: [.success(.repeated(since: Mint.now))])
        #expect(try Mint.verifier(replays: store).code(Mint.token()) == .tokenAlreadyUsed)
    }

    @Test("a store that cannot tell is no yes, and does not touch what was refused before")
    func faultyStore() throws {
        let group = [request(try Mint.token()), request("")]
        let failing = try Mint.verifier(replays: FaultyStore(answers: [.failure(.unavailable("gone"))]))
        let outcomes = failing.verify(group, at: Mint.now)
        #expect(throws: VerificationError.self) { try outcomes[0].get() }
        #expect(try outcomes[1].get().code == .invalidTokenFormat)
    }

    @Test("a store that answers too few or too many times is not believed", arguments: [0, 2])
    func miscountingStore(count: Int) throws {
        let store = FaultyStore(answers: Array(repeating: .success(.first), count: count))
        let outcomes = try Mint.verifier(replays: store).verify([request(try Mint.token())], at: Mint.now)
        #expect(outcomes.count == 1)
        #expect(throws: VerificationError.self) { try outcomes[0].get() }
        let claim = ReplayClaim(key: ReplayKey(words: (1, 2, 3, 4)), issued: Mint.now, until: Mint.now)
        #expect(throws: ReplayStoreError.self) { try store.claim(claim, at: Mint.now) }
    }
}
