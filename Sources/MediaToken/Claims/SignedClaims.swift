package import SignatureStage
package import TokenCrypto
package import TokenXML

/// Claims that were read from signed bytes. They can only be made from an ``AuthenticPayload``.
///
/// This is a class, so that the later stages pass on one reference instead of a dozen strings.
package final class SignedClaims: Sendable {
    package let claims: MediaTokenClaims
    /// The SHA-256 digest of the signed bytes.
    package let digest: SHA256Digest
    package let key: VerificationKey

    /// Reads the claims of a media token.
    package init(reading payload: AuthenticPayload, with reader: StrictXMLReader) throws(ClaimsError) {
        claims = try MediaTokenClaims(TokenElements(reading: payload.bytes, with: reader))
        (digest, key) = (payload.digest, payload.key)
    }
}
