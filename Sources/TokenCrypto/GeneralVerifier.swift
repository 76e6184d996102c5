internal import COpenSSL

/// Verifies RSASSA-PKCS1-v1_5 signatures over SHA-256 with libcrypto's general interface, as `openssl speed` does. It
/// decides whatever ``BatchVerifier`` does not call valid, and tests and load tests compare other ways with it.
///
/// It is not thread-safe: it serves one caller at a time.
package final class GeneralVerifier {
    private let key: RSAPublicKey
    private let context: OpaquePointer

    package init(key: RSAPublicKey) throws(CryptoError) {
        guard let context = EVP_PKEY_CTX_new(key.pointer, nil) else { throw .libcrypto("cannot make a key context") }
        guard EVP_PKEY_verify_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1
        else {
            EVP_PKEY_CTX_free(context)
            throw .libcrypto("cannot set up RSA verification (\(CryptoError.drainQueue()))")
        }
        self.key = key
        self.context = context
    }

    deinit {
        EVP_PKEY_CTX_free(context)
    }

    /// Whether `signature` is this key's signature over `digest`; `false` also if libcrypto fails.
    package func isValid(_ signature: [UInt8], over digest: SHA256Digest) -> Bool {
        guard signature.count == key.signatureLength else { return false }
        let outcome = digest.withUnsafeBytes { digestBytes in
            signature.withUnsafeBufferPointer {
                EVP_PKEY_verify(
                    context, $0.baseAddress, $0.count,
                    digestBytes.baseAddress?.assumingMemoryBound(to: UInt8.self), digestBytes.count)
            }
        }
        guard outcome == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }
}
