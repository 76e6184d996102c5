package import Timestamps
package import TokenCrypto

/// The RSA operations of some tokens, and nothing else, by libcrypto's general interface as `openssl speed` does them: what
/// the verification of whole tokens is measured against.
package struct BareSignatures: Sendable {
    private let operations: [(signature: [UInt8], digest: SHA256Digest, key: Int)]
    private let keys: [VerificationKey]

    /// Those of `tokens` that one of `keys` verifies at `now`. `nil` where there is none.
    package init?(of tokens: [RawToken], keys: KeyRing, at now: Timestamp) {
        guard let workspace = try? VerificationWorkspace(keys: keys.keys) else { return nil }
        self.keys = keys.keys
        operations = tokens.compactMap { token in
            let digested = token.clearText(choosing: nil).flatMap { TokenEnvelope.split($0) }.flatMap {
                DigestedEnvelope.make(of: $0, with: workspace.hasher)
            }
            guard case .success(let made) = digested,
                let key = keys.indexOfKey(
                    verifying: made.envelope.signature, over: made.digest, at: now, with: workspace)
            else { return nil }
            return (made.envelope.signature, made.digest, key)
        }
        guard !operations.isEmpty else { return nil }
    }

    /// One for each key, for one thread.
    package func makeVerifiers() throws(CryptoError) -> [GeneralVerifier] {
        try keys.map { (key) throws(CryptoError) in try GeneralVerifier(key: key.publicKey) }
    }

    /// Verifies every one once.
    ///
    /// - Returns: how many were valid; all of them, or libcrypto is not to be trusted.
    package func verifyAll(with verifiers: [GeneralVerifier]) -> Int {
        operations.count { verifiers[$0.key].isValid($0.signature, over: $0.digest) }
    }
}
