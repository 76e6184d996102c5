internal import TokenCrypto
internal import TokenXML

/// Claims that were read from signed bytes: only ``read(from:with:)`` makes them, and only from an ``AuthenticPayload``.
///
/// A class, so that the rest of the way hands on one reference and not a dozen texts.
final class SignedClaims: Sendable {
    let claims: MediaTokenClaims
    /// SHA-256 of the signed bytes.
    let digest: SHA256Digest
    let key: VerificationKey

    private init(claims: MediaTokenClaims, payload: AuthenticPayload) {
        self.claims = claims
        (digest, key) = (payload.digest, payload.key)
    }

    static func read(from payload: AuthenticPayload, with reader: StrictXMLReader) -> Step<SignedClaims> {
        do {
            let claims = try MediaTokenClaims(TokenElements(reading: payload.bytes, with: reader))
            return .success(SignedClaims(claims: claims, payload: payload))
        } catch {
            return .failure(Stop(error))
        }
    }
}
