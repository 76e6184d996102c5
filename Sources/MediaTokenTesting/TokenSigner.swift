internal import Basics
package import TokenCrypto

/// Signs payloads as Adobe Pass would, for tests, load tests and demonstrations.
package struct TokenSigner: Sendable {
    private let key: RSASigningKey

    package init(key: RSASigningKey) {
        self.key = key
    }

    /// Signs `payload`, and returns the token's clear text: the signature between two opening tags, then the payload.
    package func sign(_ payload: String) throws(CryptoError) -> String {
        let signature = try key.sign(Array(payload.utf8))
        return "<signatureInfo>\(Base64.encode(signature))<signatureInfo>\(payload)"
    }
}
