internal import COpenSSL

/// An RSA private key that signs tokens for tests and load tests. Verification never needs one.
package final class RSASigningKey: Sendable {
    private let key: SignatureKey

    /// The matching public key.
    package let publicKey: RSAPublicKey

    /// Generates a key with exponent 65537.
    package static func generate(bits: Int) throws(KeyFileError) -> RSASigningKey {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil) else { throw .libcrypto("out of memory") }
        defer { EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
            EVP_PKEY_generate(context, &pointer) == 1, let pointer
        else { throw .libcrypto("cannot generate a key of \(bits) bits (\(CryptoError.drainQueue()))") }
        return try RSASigningKey(SignatureKey(takingOwnership: pointer))
    }

    /// Reads an unencrypted PEM private key in PKCS#8 or PKCS#1 form.
    package convenience init(pem: [UInt8]) throws(KeyFileError) {
        try self.init(SignatureKey(pem: pem))
    }

    private init(_ key: SignatureKey) throws(KeyFileError) {
        self.key = key
        // The public key gets a second reference, since it reads the same immutable object.
        guard EVP_PKEY_up_ref(key.pointer) == 1 else { throw .libcrypto("out of memory") }
        publicKey = try RSAPublicKey(takingOwnership: key.pointer)
    }

    /// Signs a digest of `message` with RSASSA-PKCS1-v1_5.
    package func sign(_ message: [UInt8], _ digest: DigestAlgorithm = .sha256) throws(CryptoError) -> [UInt8] {
        try key.sign(message, digest)
    }

    /// The key as unencrypted PEM PKCS#8.
    package func pemText() throws(CryptoError) -> String {
        try withMemoryBIO { (bio) throws(CryptoError) in
            guard PEM_write_bio_PKCS8PrivateKey(bio, key.pointer, nil, nil, 0, nil, nil) == 1 else {
                throw .libcrypto("cannot write the key as PEM")
            }
        }
    }

    /// Puts the public key into `certificate`, and signs that.
    func certify(_ certificate: OpaquePointer) -> Bool {
        X509_set_pubkey(certificate, key.pointer) == 1 && X509_sign(certificate, key.pointer, EVP_sha256()) > 0
    }
}
