package import Basics
package import EnvelopeStage
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

/// An envelope, and the digest of its signed bytes.
package struct DigestedEnvelope: Sendable {
    fileprivate let envelope: TokenEnvelope
    fileprivate let digest: SHA256Digest

    /// The short ID of the token, whose signature need not be verified.
    package var id: TokenID { TokenID(digest) }
}

extension SignatureWorkspace {
    /// Verifies the signature of each envelope of a group, as ``authenticate(digested:at:)`` does.
    package func authenticate(
        _ group: [Result<TokenEnvelope, EnvelopeError>], at now: Timestamp
    ) -> [Result<AuthenticPayload, SignatureError>?] {
        authenticate(digested: group.map(digest), at: now)
    }

    /// Verifies the signature of each envelope of a group, over exactly its signed bytes, with the keys whose
    /// certificates are valid at `now`.
    ///
    /// - Returns: a result for each token, in order; `nil` if a token has no envelope.
    package func authenticate(
        digested tokens: [Result<DigestedEnvelope, SignatureError>?], at now: Timestamp
    ) -> [Result<AuthenticPayload, SignatureError>?] {
        guard tokens.count >= BatchVerifier.leastCount else {
            return tokens.map { token in token?.flatMap { authenticate($0, .notTried, at: now) } }
        }
        let outcomes = verifyTogether(tokens, at: now)
        return tokens.indices.map { index in tokens[index]?.flatMap { authenticate($0, outcomes[index], at: now) } }
    }

    /// Digests the signed bytes of a token; `nil` if it has no envelope.
    package func digest(
        _ token: Result<TokenEnvelope, EnvelopeError>
    ) -> Result<DigestedEnvelope, SignatureError>? {
        guard case .success(let envelope) = token else { return nil }
        do {
            return .success(DigestedEnvelope(envelope: envelope, digest: try hasher.digest(envelope.payload)))
        } catch {
            // Unreached: libcrypto fails to compute a digest.
            return .failure(.outOfResources("\(error)"))
        }
    }

    private func authenticate(
        _ token: DigestedEnvelope, _ outcome: BatchOutcome, at now: Timestamp
    ) -> Result<AuthenticPayload, SignatureError> {
        guard let index = indexOfKey(verifying: token, outcome, at: now) else {
            return .failure(reason(against: token, at: now))
        }
        mostRecent = index
        return .success(AuthenticPayload(of: token.envelope, digest: token.digest, key: keys[index]))
    }

    // Unreached: A ring whose keys were all withdrawn; the properties withdraw none.
    /// The indexes of the keys in the order in which they are tried. Tokens do not name their key, so the key that
    /// verified last is the first.
    private var order: [Int] { keys.isEmpty ? [] : [mostRecent] + keys.indices.filter { $0 != mostRecent } }

    // MARK: Several signatures at once

    /// What verifying several signatures at once has found out about one of them.
    private enum BatchOutcome {
        case verified(key: Int)
        /// No key called it valid; it is for libcrypto to decide.
        case notVerified
        case notTried
    }

    private func verifyTogether(
        _ tokens: [Result<DigestedEnvelope, SignatureError>?], at now: Timestamp
    ) -> [BatchOutcome] {
        var outcomes = [BatchOutcome](repeating: .notTried, count: tokens.count)
        for index in order where keys[index].isUsable(at: now) {
            guard let batch = verifiers[index].batch else { continue }
            let length = keys[index].publicKey.signatureLength
            var (waiting, questions) = ([Int](), [BatchVerifier.Question]())
            for (position, token) in tokens.enumerated() {
                if case .verified = outcomes[position] { continue }
                guard case .success(let token)? = token, token.envelope.signature.count == length else { continue }
                waiting.append(position)
                questions.append(BatchVerifier.Question(token.envelope.signature, over: token.digest))
            }
            for first in stride(from: 0, to: waiting.count, by: BatchVerifier.lanes) {
                let lanes = first..<min(first + BatchVerifier.lanes, waiting.count)
                guard lanes.count >= BatchVerifier.leastCount else { continue }
                for (position, isValid) in zip(waiting[lanes], batch.verify(questions[lanes])) {
                    outcomes[position] = isValid ? .verified(key: index) : .notVerified
                    if isValid { verifiedTogether += 1 }
                }
            }
        }
        return outcomes
    }

    // MARK: One signature

    /// Finds the key that verifies a signature. A key of another length than the signature costs nothing.
    private func indexOfKey(verifying token: DigestedEnvelope, _ outcome: BatchOutcome, at now: Timestamp) -> Int? {
        if case .verified(let index) = outcome { return index }
        var wasTried = false
        if case .notVerified = outcome { wasTried = true }
        let verifies = { [keys, verifiers] (index: Int) in
            keys[index].isUsable(at: now)
                && verifiers[index].isValid(token.envelope.signature, over: token.digest, byGeneralInterface: wasTried)
        }
        let first = mostRecent
        // Unreached: A ring whose keys were all withdrawn; the properties withdraw none.
        guard !keys.isEmpty else { return nil }
        if verifies(first) { return first }
        return keys.indices.first { $0 != first && verifies($0) }
    }

    /// The error for a signature that no key with a valid certificate verifies. It names the key that would verify it
    /// if its certificate were valid, if there is one.
    private func reason(against token: DigestedEnvelope, at now: Timestamp) -> SignatureError {
        let unusable = keys.indices.first {
            // Unreached: A key outside of its certificate's dates; the properties' keys have no certificates.
            !keys[$0].isUsable(at: now) && verifiers[$0].isValid(token.envelope.signature, over: token.digest)
        }
        // Unreached: A key outside of its certificate's dates; the properties' keys have no certificates.
        if let key = unusable.map({ keys[$0] }), let validity = key.validity {
            return .keyOutsideValidity(name: key.name, validity, now: now)
        }
        return .noKeyVerifies(length: token.envelope.signature.count, keys: keys)
    }
}
