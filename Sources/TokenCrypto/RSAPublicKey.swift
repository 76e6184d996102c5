internal import COpenSSL

/// An immutable RSA public key.
package final class RSAPublicKey: Sendable {
    /// The key's owned `EVP_PKEY`. libcrypto documents one that nobody changes as safe to share between threads.
    package nonisolated(unsafe) let pointer: OpaquePointer

    /// The length of the modulus in bits.
    package let bits: Int
    /// The public exponent; `nil` if it needs more than 64 bits.
    package let exponent: UInt64?
    /// The key as DER `SubjectPublicKeyInfo` (RFC 5280).
    package let derBytes: [UInt8]
    /// The SHA-256 digest of ``derBytes``, as `openssl pkey -pubin -outform der | sha256sum` prints it.
    package let fingerprint: SHA256Digest

    /// The length in bytes of the modulus, and so of every signature.
    package var signatureLength: Int { (bits + 7) / 8 }

    /// Takes ownership of `pointer`, and frees it if the initializer throws.
    ///
    /// - Throws: ``KeyFileError/notRSA(found:)`` for any other algorithm, including RSASSA-PSS keys.
    init(takingOwnership pointer: OpaquePointer) throws(KeyFileError) {
        do {
            let kind = EVP_PKEY_get_base_id(pointer)
            guard kind == EVP_PKEY_RSA else { throw KeyFileError.notRSA(kind) }
            derBytes = try encodeDER { i2d_PUBKEY(pointer, $0) }
            fingerprint = try SHA256Hasher.digest(derBytes)
            bits = Int(EVP_PKEY_get_bits(pointer))
            exponent = Self.exponent(of: pointer)
            self.pointer = pointer
        } catch {
            EVP_PKEY_free(pointer)
            throw KeyFileError(error)
        }
    }

    /// Reads a DER `SubjectPublicKeyInfo` (RFC 5280) or `RSAPublicKey` (RFC 8017, A.1.1); `nil` for anything else.
    package convenience init?(ifDER bytes: [UInt8]) throws(KeyFileError) {
        let algorithm = KeyAlgorithm.ofPublicKey(bytes[...])
        if let algorithm, algorithm != EVP_PKEY_RSA { throw .notRSA(algorithm) }
        let pointer = decodeDER(
            bytes,
            with: { algorithm == nil ? d2i_PublicKey(EVP_PKEY_RSA, nil, $0, $1) : d2i_PUBKEY(nil, $0, $1) },
            discarding: EVP_PKEY_free)
        guard let pointer else {
            CryptoError.discardQueue()
            return nil
        }
        try self.init(takingOwnership: pointer)
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// The key as PEM `PUBLIC KEY`.
    package func pemText() throws(CryptoError) -> String {
        try withMemoryBIO { (bio) throws(CryptoError) in
            guard PEM_write_bio_PUBKEY(bio, pointer) == 1 else { throw .libcrypto("cannot write the key as PEM") }
        }
    }

    /// A copy of the modulus; `nil` if libcrypto does not provide it.
    func modulus() -> BigNumber? { Self.parameter(OSSL_PKEY_PARAM_RSA_N, of: pointer) }

    /// The exponent of a key; `nil` if it needs more than 64 bits.
    static func exponent(of pointer: OpaquePointer) -> UInt64? {
        guard let number = parameter(OSSL_PKEY_PARAM_RSA_E, of: pointer), BN_num_bits(number.pointer) <= 64 else {
            return nil
        }
        return UInt64(BN_get_word(number.pointer))
    }

    private static func parameter(_ name: String, of pointer: OpaquePointer) -> BigNumber? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return nil }
        return number.map(BigNumber.init(takingOwnership:))
    }
}
