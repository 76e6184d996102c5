internal import TokenCrypto

/// Our verifications, of one signature and of several at once, say what libcrypto's general one says, and yes to known
/// signatures only.
struct SignatureProperty: FuzzProperty {
    private struct Key {
        let own: SignatureVerifier
        let judge: GeneralVerifier
        /// One for each engine of this processor; none if the key is left to libcrypto.
        let batches: [BatchVerifier]
        let known: SignedTokens.Batch
    }

    private let keys: [Key]

    init() throws {
        keys = try SignedTokens().batches.map { batch in
            Key(
                own: try SignatureVerifier(key: batch.publicKey), judge: try GeneralVerifier(key: batch.publicKey),
                batches: BatchVerifier.Engine.available.compactMap { BatchVerifier(key: batch.publicKey, engine: $0) },
                known: batch)
        }
    }

    /// - Parameter input: the number of a known digest in the first byte, or else the text of a digest; then the
    ///   signature.
    func check(_ input: [UInt8]) throws {
        guard let number = input.first else { return }
        let signature = Array(input.dropFirst())
        for key in keys {
            let known = key.known.signatures
            let digest = Int(number) < known.count ? known[Int(number)].digest : try SHA256Hasher.digest(signature)
            let isValid = key.own.isValid(signature, over: digest)
            try demand(isValid == key.judge.isValid(signature, over: digest), "we say \(isValid), libcrypto does not")
            try demand(
                !isValid || known.contains { $0.digest == digest && $0.signature == signature },
                "valid, and nobody has made it")
            guard signature.count == key.known.publicKey.signatureLength else { continue }
            for batch in key.batches {
                try demand(
                    Self.valid(signature, digest, beside: known, in: batch) == isValid,
                    "several at once say \(!isValid), libcrypto does not")
            }
        }
    }

    /// Whether a signature is valid in its lane. The other lanes have known signatures, which must be valid beside it.
    private static func valid(
        _ signature: [UInt8], _ digest: SHA256Digest, beside known: [(signature: [UInt8], digest: SHA256Digest)],
        in batch: BatchVerifier
    ) throws -> Bool {
        let own = Int(digest.words.0 % UInt64(BatchVerifier.lanes))
        let valid = batch.verify(
            (0..<BatchVerifier.lanes).map { lane in
                let token = lane == own ? (signature, digest) : known[lane % known.count]
                return BatchVerifier.Question(token.0, over: token.1)
            }[...])
        try demand(
            valid.indices.allSatisfy { $0 == own || valid[$0] }, "a known signature is not valid beside another")
        return valid[own]
    }
}
