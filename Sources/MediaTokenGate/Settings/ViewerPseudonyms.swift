internal import Basics
internal import MediaToken
internal import TokenCrypto

/// Makes names for viewers, by which the log's lines of one viewer are found, and which only the holder of the secret
/// can lead back to a session GUID.
package struct ViewerPseudonyms: Sendable {
    private let key: HMACKey

    /// - Throws: ``WeakSecret`` or `CryptoError`.
    package init(secret: [UInt8]) throws {
        guard secret.count >= Self.fewestBytes else { throw WeakSecret(bytes: secret.count) }
        key = try HMACKey(.sha256, key: secret)
    }

    /// The error for a secret that could be guessed.
    package struct WeakSecret: Error, CustomStringConvertible {
        let bytes: Int

        package var description: String { "has \(bytes) bytes; expected \(fewestBytes) or more" }
    }

    private static let fewestBytes = 32

    /// The pseudonym of the viewer who has a token, from its requestor, MVPD and session GUID, since a session GUID
    /// means something only for these two; `nil` if libcrypto fails.
    func name(_ claims: MediaTokenClaims) -> UInt64? {
        let words = [claims.requestor.description, claims.mvpd.description, claims.sessionGUID.text]
        let code = try? key.code(of: Array(words.map { Array($0.utf8) }.joined(separator: [0])))
        return code.map { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
