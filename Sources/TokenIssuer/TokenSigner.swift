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
        return "<signatureInfo>\(Self.base64(signature))<signatureInfo>\(payload)"
    }

    /// Base64 with padding (RFC 4648).
    package static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.base64, as: UTF8.self)
    }
}
