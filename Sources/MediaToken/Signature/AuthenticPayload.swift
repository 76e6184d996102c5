package import EnvelopeStage
package import Timestamps
package import TokenCrypto

/// Bytes that one of the loaded keys has signed. Only a ``SignatureWorkspace`` makes one.
package struct AuthenticPayload: Sendable {
    private let envelope: TokenEnvelope
    /// The SHA-256 digest of the signed bytes. The signature is made over it, and it identifies the token in a replay
    /// store.
    package let digest: SHA256Digest
    package let key: VerificationKey

    /// Exactly the bytes that were signed.
    package var bytes: ArraySlice<UInt8> { envelope.payload }

    fileprivate init(of envelope: TokenEnvelope, digest: SHA256Digest, key: VerificationKey) {
        (self.envelope, self.digest, self.key) = (envelope, digest, key)
    }
}

extension SignatureWorkspace {
    /// Verifies the signature of each envelope of a group, over exactly its signed bytes, with the keys whose
    /// certificates are valid at `now`.
    ///
    /// - Returns: a result for each token, in order; `nil` if a token has no envelope.
    package func authenticate(
        _ group: [Result<TokenEnvelope, EnvelopeError>], at now: Timestamp
    ) -> [Result<AuthenticPayload, SignatureError>?] {
        group.indices.map { index in
            guard case .success(let envelope) = group[index] else { return nil }
            return authenticate(envelope, at: now)
        }
    }

    private func authenticate(
        _ envelope: TokenEnvelope, at now: Timestamp
    ) -> Result<AuthenticPayload, SignatureError> {
        let digest: SHA256Digest
        do { digest = try hasher.digest(envelope.payload) } catch { return .failure(.outOfResources("\(error)")) }
        guard let index = indexOfKey(verifying: envelope.signature, over: digest, at: now) else {
            return .failure(reason(against: envelope.signature, over: digest, at: now))
        }
        mostRecent = index
        return .success(AuthenticPayload(of: envelope, digest: digest, key: keys[index]))
    }

    /// Finds the key that verifies a signature. Tokens do not name their key, so the key that verified last is tried
    /// first, then the others in order. A key of another length than the signature costs nothing.
    private func indexOfKey(verifying signature: [UInt8], over digest: SHA256Digest, at now: Timestamp) -> Int? {
        let verifies = { [keys, verifiers] (index: Int) in
            keys[index].isUsable(at: now) && verifiers[index].isValid(signature, over: digest)
        }
        let first = mostRecent
        if verifies(first) { return first }
        return keys.indices.first { $0 != first && verifies($0) }
    }

    /// The error for a signature that no key with a valid certificate verifies. It names the key that would verify it
    /// if its certificate were valid, if there is one.
    private func reason(
        against signature: [UInt8], over digest: SHA256Digest, at now: Timestamp
    ) -> SignatureError {
        let unusable = keys.indices.first {
            !keys[$0].isUsable(at: now) && verifiers[$0].isValid(signature, over: digest)
        }
        if let key = unusable.map({ keys[$0] }), let validity = key.validity {
            return .keyOutsideValidity(name: key.name, validity, now: now)
        }
        return .noKeyVerifies(length: signature.count, keys: keys)
    }
}
