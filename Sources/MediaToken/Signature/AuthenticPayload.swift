internal import Timestamps
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
    /// Verifies the signature of each envelope of a group, over exactly the bytes that arrived, by the keys whose certificates
    /// are valid at `now`.
    func authenticate(
        _ group: [Step<DigestedEnvelope>], at now: Timestamp, with workspace: VerificationWorkspace
    ) -> [Step<AuthenticPayload>] {
        group.indices.map { group[$0].flatMap { authenticate($0, at: now, with: workspace) } }
    }

    private func authenticate(
        _ digested: DigestedEnvelope, at now: Timestamp, with workspace: VerificationWorkspace
    ) -> Step<AuthenticPayload> {
        let (envelope, digest) = (digested.envelope, digested.digest)
        guard let index = indexOfKey(verifying: envelope.signature, over: digest, at: now, with: workspace) else {
            return .failure(.rejected(refusal(of: envelope.signature, over: digest, at: now, with: workspace)))
        }
        lastSuccessful = index
        return .success(AuthenticPayload(bytes: envelope.payload, digest: digest, key: keys[index]))
    }

    /// Tokens name no key. The one that verified last is tried first, then the others in order; a key whose modulus is
    /// not as long as the signature says no at once.
    func indexOfKey(
        verifying signature: [UInt8], over digest: SHA256Digest, at now: Timestamp,
        with workspace: VerificationWorkspace
    ) -> Int? {
        let verifies = { (index: Int) in
            self.keys[index].isUsable(at: now) && workspace.verifiers[index].isValid(signature, over: digest)
        }
        let first = lastSuccessful
        if verifies(first) { return first }
        return keys.indices.first { $0 != first && verifies($0) }
    }

    /// The rejection of a signature that no usable key verifies. If a key outside its certificate's dates verifies it, the
    /// rejection names that key.
    private func refusal(
        of signature: [UInt8], over digest: SHA256Digest, at now: Timestamp, with workspace: VerificationWorkspace
    ) -> Rejection {
        let unusable = keys.indices.first {
            !keys[$0].isUsable(at: now) && workspace.verifiers[$0].isValid(signature, over: digest)
        }
        if let key = unusable.map({ keys[$0] }), let validity = key.validity {
            return Rejection(.keyOutsideValidity(name: key.name, validity, now: now))
        }
        return Rejection(.signature(length: signature.count, keys: keys))
    }
}
