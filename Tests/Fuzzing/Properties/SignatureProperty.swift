internal import ReferenceCrypto
internal import TokenCrypto

/// Our verification says what libcrypto's general one says, and yes to known signatures only.
struct SignatureProperty: FuzzProperty {
    private let keys: [(own: SignatureVerifier, judge: GeneralVerifier, known: SignedTokens.Batch)]

    init() throws {
        keys = try SignedTokens().batches.map {
            (try SignatureVerifier(key: $0.publicKey), try GeneralVerifier(key: $0.publicKey), $0)
        }
    }

    /// - Parameter input: the number of a known digest in the first byte, or else the text of a digest; then the signature.
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
        }
    }
}
