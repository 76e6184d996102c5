internal import TextEncodings
package import Timestamps
internal import TokenCrypto

/// Tells whoever used a token, and asks again, from anybody else with the same token.
public struct ReplayMark: Hashable, Sendable {
    let words: SIMD2<UInt64>

    init(words: SIMD2<UInt64>) { self.words = words }

    /// Half of a SHA-256 of both: nobody makes it without the secret, and it tells nothing of that.
    ///
    /// - Parameters:
    ///   - key: the token's.
    ///   - secret: what the first asker alone knows, such as an `Idempotency-Key`.
    /// - Throws: ``CannotTell`` where libcrypto cannot work.
    public init(of key: ReplayKey, secret: [UInt8]) throws(CannotTell) {
        do {
            let digest = try SHA256Hasher.digest(SHA256Digest(words: key.words).bytes + secret)
            self.init(words: SIMD2(digest.words.0, digest.words.1))
        } catch {
            throw .outOfResources("\(error)")
        }
    }
}

/// What a store keeps beside a key that was claimed under a mark.
package struct MarkedUse: Equatable, Sendable {
    private let mark: ReplayMark
    private let moment: Timestamp

    /// `nil` for a claim without a mark: nothing is kept beside its key.
    package init?(_ claim: ReplayClaim, at now: Timestamp) {
        guard let mark = claim.mark else { return nil }
        (self.mark, moment) = (mark, now)
    }

    /// Reads ``text``; `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 3 * Self.wordDigits else { return nil }
        let words = stride(from: 0, to: digits.count, by: Self.wordDigits).compactMap { begin in
            UInt64(String(decoding: digits[begin..<begin + Self.wordDigits], as: UTF8.self), radix: 16)
        }
        guard words.count == 3 else { return nil }
        mark = ReplayMark(words: SIMD2(words[0], words[1]))
        moment = Timestamp(milliseconds: Int64(bitPattern: words[2]))
    }

    /// 48 hexadecimal digits.
    package var text: String {
        mark.words[0].hexadecimal + mark.words[1].hexadecimal + UInt64(bitPattern: moment.milliseconds).hexadecimal
    }

    private static let wordDigits = 16

    /// What another claim on the same key is answered.
    package func answer(to claim: ReplayClaim) -> ReplayAnswer {
        claim.mark == mark ? .repeated(since: moment) : .alreadyUsed
    }
}
