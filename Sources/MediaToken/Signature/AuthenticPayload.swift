internal import TokenCrypto

/// Bytes that one of the loaded keys has signed. Only a ``KeyRing`` makes one.
struct AuthenticPayload: Sendable {
    let bytes: ArraySlice<UInt8>
    /// SHA-256 of the signed bytes: what the signature is over, and the token's identity for the replay store.
    let digest: SHA256Digest
    let key: VerificationKey

    fileprivate init(bytes: ArraySlice<UInt8>, digest: SHA256Digest, key: VerificationKey) {
        self.bytes = bytes
        self.digest = digest
        self.key = key
    }
}

extension KeyRing {
    /// Verifies the signature of each envelope of a group, over exactly the bytes that arrived.
    func authenticate(
        _ group: [Step<DigestedEnvelope>], with workspace: VerificationWorkspace
    ) -> [Step<AuthenticPayload>] {
        group.indices.map { group[$0].flatMap { authenticate($0, with: workspace) } }
    }

    private func authenticate(
        _ digested: DigestedEnvelope, with workspace: VerificationWorkspace
    ) -> Step<AuthenticPayload> {
        let (envelope, digest) = (digested.envelope, digested.digest)
        guard let index = indexOfKey(verifying: envelope.signature, over: digest, with: workspace) else {
            return .failure(.rejected(Rejection(.signature(length: envelope.signature.count, keys: keys))))
        }
        lastSuccessful = index
        return .success(AuthenticPayload(bytes: envelope.payload, digest: digest, key: keys[index]))
    }

    /// Tokens name no key. The one that verified last is tried first, then the others in order; a key whose modulus is
    /// not as long as the signature says no at once.
    func indexOfKey(
        verifying signature: [UInt8], over digest: SHA256Digest, with workspace: VerificationWorkspace
    ) -> Int? {
        let first = lastSuccessful
        if workspace.verifiers[first].isValid(signature, over: digest) { return first }
        return keys.indices.first { $0 != first && workspace.verifiers[$0].isValid(signature, over: digest) }
    }
}
