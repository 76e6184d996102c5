internal import COpenSSL

/// An RSA private key that signs tokens for tests and load tests, and playback grants for a CDN. Verification never
/// needs one.
package final class RSASigningKey: Sendable {
    /// The key's owned `EVP_PKEY`. libcrypto documents one that nobody changes as safe to share between threads.
    private nonisolated(unsafe) let pointer: OpaquePointer

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
        return try RSASigningKey(takingOwnership: pointer)
    }

    /// Reads an unencrypted PEM private key in PKCS#8 or PKCS#1 form.
    package convenience init(pem: [UInt8]) throws(KeyFileError) {
        let pointer = pem.withUnsafeBytes { buffer -> OpaquePointer? in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { BIO_free(bio) }
            // Without this callback, libcrypto would ask for a password on the terminal and wait.
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let pointer else {
            throw .malformed("no unencrypted PEM private key (\(CryptoError.drainQueue()))")
        }
        try self.init(takingOwnership: pointer)
    }

    private init(takingOwnership pointer: OpaquePointer) throws(KeyFileError) {
        do {
            // The public key gets a second reference, since it reads the same immutable object.
            guard EVP_PKEY_up_ref(pointer) == 1 else { throw KeyFileError.libcrypto("out of memory") }
            publicKey = try RSAPublicKey(takingOwnership: pointer)
            self.pointer = pointer
        } catch {
            EVP_PKEY_free(pointer)
            throw KeyFileError(error)
        }
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// Signs a digest of `message` with RSASSA-PKCS1-v1_5.
    package func sign(_ message: [UInt8], _ digest: DigestAlgorithm = .sha256) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .libcrypto("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        var count = publicKey.signatureLength
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, digest.algorithm, nil, pointer) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw .libcrypto("cannot sign (\(CryptoError.drainQueue()))") }
        return signature
    }

    /// The key as unencrypted PEM PKCS#8.
    package func pemText() throws(CryptoError) -> String {
        try withMemoryBIO { (bio) throws(CryptoError) in
            guard PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil) == 1 else {
                throw .libcrypto("cannot write the key as PEM")
            }
        }
    }
}
