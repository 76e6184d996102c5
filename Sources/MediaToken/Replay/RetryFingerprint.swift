internal import TextEncodings
package import Timestamps
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

/// The record that a store keeps with the key of a claim that has a fingerprint.
package struct FingerprintedUse: Equatable, Sendable {
    private let fingerprint: RetryFingerprint
    private let time: Timestamp

    /// Records the use by `claim` at `now`; `nil` for a claim without a fingerprint, whose key is kept alone.
    package init?(_ claim: ReplayClaim, at now: Timestamp) {
        guard let fingerprint = claim.fingerprint else { return nil }
        (self.fingerprint, time) = (fingerprint, now)
    }

    /// Reads the form that ``words`` has.
    package init(words: (UInt64, UInt64, UInt64)) {
        fingerprint = RetryFingerprint(words: SIMD2(words.0, words.1))
        time = Timestamp(milliseconds: Int64(bitPattern: words.2))
    }

    /// The fingerprint in two words, and the time of the use in milliseconds since 1970.
    package var words: (UInt64, UInt64, UInt64) {
        (fingerprint.words[0], fingerprint.words[1], UInt64(bitPattern: time.milliseconds))
    }

    /// Reads the form that ``text`` writes; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 3 * Self.wordDigits else { return nil }
        let words = stride(from: 0, to: digits.count, by: Self.wordDigits).compactMap { begin in
            UInt64(String(decoding: digits[begin..<begin + Self.wordDigits], as: UTF8.self), radix: 16)
        }
        guard words.count == 3 else { return nil }
        self.init(words: (words[0], words[1], words[2]))
    }

    /// The use as 48 hexadecimal digits.
    package var text: String {
        words.0.hexadecimal + words.1.hexadecimal + words.2.hexadecimal
    }

    private static let wordDigits = 16

    /// The answer to a later claim on the same key.
    package func answer(to claim: ReplayClaim) -> ReplayAnswer {
        claim.fingerprint == fingerprint ? .repeated(since: time) : .alreadyUsed
    }
}
