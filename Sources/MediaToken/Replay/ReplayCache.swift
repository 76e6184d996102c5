public import Timestamps
internal import TokenCrypto

/// A token's identity for single use: the SHA-256 of its signed bytes, however it was wrapped.
public struct ReplayKey: Hashable, Sendable {
    /// The digest's bytes 0–7, 8–15, 16–23 and 24–31, each read as a big-endian number.
    public let words: (UInt64, UInt64, UInt64, UInt64)

    /// Takes the words of a SHA-256 digest.
    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    init(_ digest: SHA256Digest) {
        words = digest.words
    }

    /// Half of the digest, which is what stores keep. Two tokens whose SHA-256 agree in 128 bits would be taken for one,
    /// which refuses the second: the error is on the safe side, and nobody can bring it about.
    ///
    /// It is the middle half, so that the first byte is left to spread keys over shards.
    package var half: SIMD2<UInt64> { SIMD2(words.1, words.2) }

    /// Whether all 32 bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.words == right.words
    }

    /// Hashes half of it: a digest is as good as random already.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// One token's claim to be used for the first time.
public struct ReplayClaim: Sendable {
    /// Which token.
    public let key: ReplayKey
    /// Its issue time: a store that began to remember later cannot know whether it was used.
    public let issued: Timestamp
    /// Until when it must be remembered, before skew: issue time plus `ttl`, both as signed.
    public let until: Timestamp
    /// Kept beside the key where this claim is the first; `nil` for a use that nobody may repeat.
    public let mark: ReplayMark?

    /// A claim on `key`.
    public init(key: ReplayKey, issued: Timestamp, until: Timestamp, mark: ReplayMark? = nil) {
        (self.key, self.issued, self.until, self.mark) = (key, issued, until, mark)
    }
}

/// What a replay store says to a claim.
public enum ReplayAnswer: Hashable, Sendable {
    /// Nobody has claimed this key; now it is yours.
    case first
    /// Somebody has.
    case alreadyUsed
    /// Somebody has, at that moment by the claimant's clock, under the mark of this claim: it is the same one who asks again.
    case repeated(since: Timestamp)
    /// The store remembers only since then, and the token may have been used before.
    case predatesStore(since: Timestamp)
}

/// The store could not tell. Whoever asked must refuse.
public enum ReplayCacheError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It holds as many live entries as it may, and never forgets one of them to make room. Says what its limit is.
    case full(String)
    /// It cannot be reached, or does not work. Says which store and why.
    case unavailable(String)

    /// One line.
    public var description: String {
        switch self {
        case .full(let limit):
            "the replay store is full: \(limit); raise its limit, or wait for tokens to expire"
        case .unavailable(let what): "the replay store is unavailable: \(what)"
        }
    }
}

/// Remembers which tokens were used. The contract, which every store keeps:
///
/// - `.first` is answered exactly once for a key until its `until` has passed by more than
///   ``VerificationPolicy/largestClockSkew``, whoever asks, on however many threads, and for as long as the store lives.
/// - Within a group the claims are decided in order, so the same key twice is `.first` once, for the earlier.
/// - What goes wrong with one claim does not touch the others of its group.
/// - `.repeated` is answered only to a claim whose mark is that of the first claim on its key, and only where `.first` could have
///   been: a store that cannot know the past says so to both.
/// - A live key is never forgotten to make room. A full store answers ``ReplayCacheError/full(_:)``.
/// - A claim that was answered with an error may or may not have been recorded; it is never answered `.first` twice.
public protocol ReplayCache: Sendable {
    /// Decides the claims of a group, in order; one answer for each.
    ///
    /// - Parameters:
    ///   - group: the claims.
    ///   - now: decides what has passed and can be dropped.
    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>]
}

extension ReplayCache {
    /// Decides one claim.
    ///
    /// - Throws: ``ReplayCacheError`` where the store cannot tell.
    public func claim(_ claim: ReplayClaim, at now: Timestamp) throws(ReplayCacheError) -> ReplayAnswer {
        let answers = self.claim([claim], at: now)
        guard let answer = answers.first, answers.count == 1 else {
            throw .unavailable("it answered \(answers.count) times to one claim")
        }
        return try answer.get()
    }
}

/// A replay store that answers later, on the thread of the event loop that asks it. The contract is that of ``ReplayCache``.
package protocol PipelinedReplayCache: AnyObject {
    /// Decides the claims of a group, in order, and calls `completion` once with an answer for each.
    func claim(
        _ group: [ReplayClaim], at now: Timestamp,
        _ completion: @escaping ([Result<ReplayAnswer, ReplayCacheError>]) -> Void)
}
