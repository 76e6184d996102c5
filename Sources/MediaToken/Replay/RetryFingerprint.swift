public import Basics
internal import TokenCrypto

/// A fingerprint of a token and the secret of the caller that consumed it, by which a store recognises that caller's
/// retry.
///
/// It is half of a SHA-256 digest of both, so nobody can make it without the secret, and it does not reveal the secret.
public struct RetryFingerprint: Hashable, Sendable {
    let words: SIMD2<UInt64>

    init(words: SIMD2<UInt64>) { self.words = words }

    /// Computes the fingerprint of a token and a secret.
    ///
    /// - Parameters:
    ///   - key: the token's replay key.
    ///   - secret: a value that only the first caller knows, such as an `Idempotency-Key`.
    /// - Throws: ``ReplayStoreError/outOfResources(_:)`` if libcrypto fails.
    public init(of key: ReplayKey, secret: [UInt8]) throws(ReplayStoreError) {
        do {
            let digest = try SHA256Hasher.digest(SHA256Digest(words: key.words).bytes + secret)
            self.init(words: SIMD2(digest.words.0, digest.words.1))
        } catch {
            throw .outOfResources("\(error)")
        }
    }
}

/// The use of a token that may be retried: the record that a store keeps beside the key of a claim with a fingerprint.
///
/// A store keeps the first claim's record and answers every later claim on the key by ``answer(to:)``. A claim without
/// a fingerprint has no record: its key is kept alone, and a later claim on it is ``ReplayAnswer/alreadyUsed``.
public struct FingerprintedUse: Hashable, Sendable {
    /// The fingerprint of the first claim on the key.
    public let fingerprint: RetryFingerprint
    /// The time of the first claim, by the clock of its caller.
    public let time: Timestamp

    /// Creates the record of a use at `time` by the caller that `fingerprint` recognises.
    init(fingerprint: RetryFingerprint, at time: Timestamp) {
        (self.fingerprint, self.time) = (fingerprint, time)
    }

    /// Creates the record of the use by `claim` at `now`; `nil` for a claim without a fingerprint, whose key is kept
    /// alone.
    public init?(_ claim: ReplayClaim, at now: Timestamp) {
        guard let fingerprint = claim.fingerprint else { return nil }
        self.init(fingerprint: fingerprint, at: now)
    }

    /// Reads the form that ``words`` has.
    package init(words: (UInt64, UInt64, UInt64)) {
        self.init(
            fingerprint: RetryFingerprint(words: SIMD2(words.0, words.1)),
            at: Timestamp(milliseconds: Int64(bitPattern: words.2)))
    }

    /// The fingerprint in two words, and the time of the use in milliseconds since 1970.
    package var words: (UInt64, UInt64, UInt64) {
        (fingerprint.words[0], fingerprint.words[1], UInt64(bitPattern: time.milliseconds))
    }

    /// Reads the form that ``text`` has; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 3 * Self.wordDigits else { return nil }
        let values = digits.compactMap(Hexadecimal.value)
        guard values.count == digits.count else { return nil }
        let words = stride(from: 0, to: values.count, by: Self.wordDigits).map { begin in
            values[begin..<begin + Self.wordDigits].reduce(0 as UInt64) { $0 << 4 | UInt64($1) }
        }
        self.init(words: (words[0], words[1], words[2]))
    }

    /// The record as 48 hexadecimal digits.
    public var text: String {
        words.0.hexadecimal + words.1.hexadecimal + words.2.hexadecimal
    }

    private static let wordDigits = 16

    /// The answer to a later claim on the key of this record.
    public func answer(to claim: ReplayClaim) -> ReplayAnswer {
        claim.fingerprint == fingerprint ? .repeated(since: time) : .alreadyUsed
    }
}
