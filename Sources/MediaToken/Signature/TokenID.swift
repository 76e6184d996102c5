internal import Basics
package import TokenCrypto

/// The short ID of a token, by which log lines, reports and people name it: the first 8 bytes of the SHA-256 digest of
/// its signed bytes, as 16 hexadecimal digits.
///
/// A token has the same ID however it is wrapped. The whole digest is the token's key in a replay store, and its first
/// half identifies the token in a playback grant. Nobody can make the token from the ID, which may be shown to anyone.
public struct TokenID: Hashable, Sendable, CustomStringConvertible {
    package let word: UInt64

    package init(_ digest: SHA256Digest) { word = digest.words.0 }

    /// - Parameter word: the first 8 bytes of the digest, as a big-endian number.
    package init(word: UInt64) { self.word = word }

    /// Digests the signed bytes of a token; `nil` if libcrypto fails.
    package init?(digesting payload: ArraySlice<UInt8>) {
        guard let digest = try? SHA256Hasher().digest(payload) else { return nil }
        self.init(digest)
    }

    /// The 16 hexadecimal digits.
    public var description: String { word.hexadecimal }
}
