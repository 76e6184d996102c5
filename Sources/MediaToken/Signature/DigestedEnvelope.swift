internal import TokenCrypto

/// A token's two parts, and the SHA-256 of the signed one: the only digest on the whole way. The signature is over it, and
/// it is the token's identity for the replay store.
struct DigestedEnvelope: Sendable {
    let envelope: TokenEnvelope
    let digest: SHA256Digest

    private init(_ envelope: TokenEnvelope, digest: SHA256Digest) {
        (self.envelope, self.digest) = (envelope, digest)
    }

    static func make(of envelope: TokenEnvelope, with hasher: SHA256Hasher) -> Step<DigestedEnvelope> {
        do {
            return .success(DigestedEnvelope(envelope, digest: try hasher.digest(envelope.payload)))
        } catch {
            return .failure(.cannotTell(.outOfResources("\(error)")))
        }
    }
}
