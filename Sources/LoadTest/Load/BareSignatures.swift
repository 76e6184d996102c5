internal import MediaToken
internal import TokenCrypto

/// The RSA operations of some tokens alone, through libcrypto's general interface, as `openssl speed` does them. The
/// rate of whole tokens is compared with theirs.
struct BareSignatures: Sendable {
    private let operations: [(signature: [UInt8], digest: SHA256Digest, key: VerificationKey)]

    /// The operations of `tokens`; `nil` if one of the tokens has no valid signature, or if there are no tokens.
    init?(of tokens: [RawToken], verifier: MediaTokenVerifier, at now: Timestamp) {
        let operations = try? verifier.withPath { path in
            let envelopes = tokens.map { TokenPath.open($0, for: nil) }
            return zip(envelopes, path.authenticate(envelopes, at: now)).compactMap { envelope, payload in
                (try? (envelope.get(), payload?.get())).flatMap { envelope, payload in
                    payload.map { (envelope.signature, $0.digest, $0.key) }
                }
            }
        }
        guard let operations, !operations.isEmpty, operations.count == tokens.count else { return nil }
        self.operations = operations
    }

    /// Creates the RSA contexts for one thread.
    func makeVerifiers() throws(CryptoError) -> [ObjectIdentifier: GeneralVerifier] {
        var verifiers: [ObjectIdentifier: GeneralVerifier] = [:]
        for operation in operations where verifiers[ObjectIdentifier(operation.key)] == nil {
            verifiers[ObjectIdentifier(operation.key)] = try GeneralVerifier(key: operation.key.publicKey)
        }
        return verifiers
    }

    /// Verifies every signature once.
    ///
    /// - Returns: The number of valid signatures, which is all of them unless libcrypto is broken.
    func verifyAll(with verifiers: [ObjectIdentifier: GeneralVerifier]) -> Int {
        operations.count {
            verifiers[ObjectIdentifier($0.key)]?.isValid($0.signature, over: $0.digest) ?? false
        }
    }
}
