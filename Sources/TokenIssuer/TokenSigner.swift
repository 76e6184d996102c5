internal import TextEncodings
package import TokenCrypto

/// Signs what it is given as Adobe Pass would. For tests, load and demonstration.
package struct TokenSigner: Sendable {
    private let key: RSASigningKey

    package init(key: RSASigningKey) {
        self.key = key
    }

    /// A token's clear text: the signature between two opening tags, and the payload behind it.
    package func sign(_ payload: String) throws(CryptoError) -> String {
        let signature = try key.sign(Array(payload.utf8))
        return "<signatureInfo>\(Base64.encode(signature))<signatureInfo>\(payload)"
    }
}
