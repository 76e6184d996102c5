public import Basics
internal import ClaimsStage
package import PolicyStage
package import TokenCrypto

/// A token's identity in a replay store: the SHA-256 digest of its signed bytes, however the token was wrapped.
public struct ReplayKey: Hashable, Sendable {
    /// The digest's bytes 0–7, 8–15, 16–23 and 24–31, each read as a big-endian number.
    public let words: (UInt64, UInt64, UInt64, UInt64)

    /// Creates a key from the words of a SHA-256 digest.
    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    package init(_ digest: SHA256Digest) {
        words = digest.words
    }

    /// The middle half of the digest, which is what stores keep; the first byte is left to spread keys over shards.
    ///
    /// Two tokens whose SHA-256 digests agree in these 128 bits count as one token, and the second is rejected. That
    /// fails closed, and nobody can find such a pair.
    package var half: SIMD2<UInt64> { SIMD2(words.1, words.2) }

    /// Whether all 32 bytes of both keys are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    /// Hashes half of the digest, whose bits are already as good as random.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// A replay claim: the request to be the first use of a token.
public struct ReplayClaim: Sendable {
    /// The token's replay key.
    public let key: ReplayKey
    /// The token's issue time. A store whose records begin later cannot know whether the token was used.
    public let issued: Timestamp
    /// The time until which the token must be remembered, before skew: issue time plus the signed TTL or, if the token
    /// has no `ttl`, the longest default TTL.
    public let until: Timestamp
    /// The fingerprint to keep with the key if this claim is the first, so that the caller may retry; `nil` for
    /// strictly single use.
    public let fingerprint: RetryFingerprint?

    /// Creates a replay claim on `key`.
    public init(key: ReplayKey, issued: Timestamp, until: Timestamp, fingerprint: RetryFingerprint? = nil) {
        (self.key, self.issued, self.until, self.fingerprint) = (key, issued, until, fingerprint)
    }

    /// Creates the replay claim of an approved token.
    ///
    /// - Parameter retries: lets the same caller retry; `nil` for strictly single use.
    /// - Throws: ``ReplayStoreError/outOfResources(_:)`` if libcrypto fails.
    package init(of token: ApprovedToken, retries: RetryWindow?) throws(ReplayStoreError) {
        let key = ReplayKey(token.signed.digest)
        let fingerprint: RetryFingerprint? =
            if let retries { try RetryFingerprint(of: key, secret: retries.secret) } else { nil }
        let claims = token.signed.claims
        self.init(
            key: key, issued: claims.issueTime.timestamp, until: claims.replayExpiry, fingerprint: fingerprint)
    }
}

/// The answer of a replay store to a replay claim.
public enum ReplayAnswer: Hashable, Sendable {
    /// The key had not been claimed before: this is the token's first use.
    case first
    /// The key had been claimed before.
    case alreadyUsed
    /// The key had been claimed at the time `since`, by the first claimant's clock, with the fingerprint of this claim:
    /// a retry.
    case repeated(since: Timestamp)
    /// The store's records begin at the time `since`, and the token was not issued after that, so it may have been used
    /// before.
    case predatesStore(since: Timestamp)
}

/// The replay store could not decide a claim, so the caller must reject the token.
public enum ReplayStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The store holds as many live entries as it may, and never forgets one of them to make room. The text names the
    /// limit.
    case full(String)
    /// The store cannot be reached, or does not work. The text names the store and the reason.
    case unavailable(String)
    /// Two users of the store name different servers for it, so a token could be accepted twice. The text names both.
    case conflicting(String)
    /// libcrypto failed, in practice because memory ran out.
    case outOfResources(String)

    /// The reason in one line.
    public var description: String {
        switch self {
        case .full(let limit):
            "the replay store is full: \(limit); it takes new tokens again as old ones expire"
        case .unavailable(let what): "the replay store is unavailable: \(what)"
        case .conflicting(let what): "the replay store has users that name different servers: \(what)"
        case .outOfResources(let what): what
        }
    }
}

/// A replay store: it remembers which tokens were used. Every store keeps this contract. The product
/// `ReplayStoreTesting` checks it, apart from what is said about errors and a full store:
///
/// - A key is answered `.first` at most once until its `until` has passed by more than
///   ``VerificationPolicy/largestClockSkew``, across all callers and threads, for the lifetime of the store. Its first
///   claim is the one, unless the store's servers vote: such a store may answer `.alreadyUsed` to all callers that
///   claim one key at the same time.
/// - The claims of a group are decided in order, so if a key occurs twice, only the earlier claim can be `.first`.
/// - A store may answer a whole group with one error. If it can decide some of the claims, it decides them whatever
///   becomes of the others.
/// - `.repeated` is the answer to a claim with the fingerprint of the first claim on its key, and to no other, if the
///   store's records reach back to the token's issue time; otherwise it answers `.predatesStore`.
/// - A live key is never forgotten to make room. A full store answers ``ReplayStoreError/full(_:)``.
/// - A claim that was answered with an error may or may not have been recorded; its key is never answered `.first`
///   twice.
/// - A claim is answered within a time that the store states, if need be with ``ReplayStoreError/unavailable(_:)``.
///
/// A store implements ``claim(_:at:)``; the form that does not block is derived from it. A store that answers from
/// memory, or has connections of its own, implements that form as well.
///
/// A store with an asynchronous client implements ``claimWithoutBlocking(_:at:)`` with that client. Its
/// ``claim(_:at:)`` hands the group to a thread of the client, and blocks the caller's thread until the answers are
/// there. Neither thread may be one of Swift's cooperative pool, which could then wait for itself.
public protocol ReplayStore: Sendable {
    /// Decides the claims of a group, in order, and returns one answer for each. It may block the calling thread.
    ///
    /// - Parameters:
    ///   - group: the claims.
    ///   - now: the time that decides which entries have expired and can be deleted.
    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>]

    /// Decides the claims of a group like ``claim(_:at:)``, and suspends the caller in place of blocking its thread.
    ///
    /// If the caller's task is cancelled, the claims are decided all the same.
    func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>]
}

extension ReplayStore {
    /// Has a thread that may block call ``claim(_:at:)``, so that no thread of Swift's cooperative pool waits for the
    /// store.
    public func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>] {
        await BlockingCalls.perform { claim(group, at: now) }
    }

    /// Decides one claim.
    ///
    /// - Throws: ``ReplayStoreError`` if the store cannot decide the claim.
    public func claim(_ claim: ReplayClaim, at now: Timestamp) throws(ReplayStoreError) -> ReplayAnswer {
        let answers = self.claim([claim], at: now)
        guard let answer = answers.first, answers.count == 1 else {
            throw .unavailable("it answered \(answers.count) times to one claim")
        }
        return try answer.get()
    }
}

/// How an event loop asks a store without blocking: the store calls the completion once, on the loop's thread, with an
/// answer for each claim. It keeps the contract of ``ReplayStore``.
package typealias ReplayClaimer = (
    _ group: [ReplayClaim], _ now: Timestamp,
    _ completion: @escaping ([Result<ReplayAnswer, ReplayStoreError>]) -> Void
) -> Void
