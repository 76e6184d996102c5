internal import TokenCrypto

/// The RSA operations of some tokens, and nothing else, by libcrypto's general interface as `openssl speed` does them: what
/// the verification of whole tokens is measured against.
///
/// Not thread-safe: one caller at a time.
package final class BareSignatures {
    private let operations: [(signature: [UInt8], digest: SHA256Digest, verifier: GeneralVerifier)]

    /// Those of `tokens` that one of `keys` has signed. `nil` where there is none.
    package init?(of tokens: [RawToken], keys: KeyRing) {
        guard let workspace = try? VerificationWorkspace(keys: keys.keys),
            let verifiers = try? keys.keys.map({ try GeneralVerifier(key: $0.publicKey) })
        else { return nil }
        operations = tokens.compactMap { token in
            let digested = token.clearText(choosing: nil).flatMap(TokenEnvelope.split).flatMap {
                DigestedEnvelope.make(of: $0, with: workspace.hasher)
            }
            guard case .success(let made) = digested,
                let index = keys.indexOfKey(verifying: made.envelope.signature, over: made.digest, with: workspace)
            else { return nil }
            return (made.envelope.signature, made.digest, verifiers[index])
        }
        guard !operations.isEmpty else { return nil }
    }

    /// Verifies every one once.
    ///
    /// - Returns: how many were valid; all of them, or libcrypto is not to be trusted.
    package func verifyAll() -> Int {
        operations.count { $0.verifier.isValid($0.signature, over: $0.digest) }
    }

    package var count: Int { operations.count }
}
