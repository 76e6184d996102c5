internal import COpenSSL

extension RSAPublicKey {
    /// Whether the key's owner made `signature`, over whatever text: whether it decrypts to the encoding of some
    /// SHA-256 digest (RFC 8017, 9.2).
    ///
    /// It is for a person who asks why a signature is not valid, and says nothing about the text that came with it. No
    /// verification calls it.
    package func hasMade(_ signature: [UInt8]) -> Bool {
        defer { CryptoError.discardQueue() }
        guard signature.count == signatureLength, let context = EVP_PKEY_CTX_new(pointer, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_verify_recover_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1
        else { return false }
        // libcrypto may write as many bytes as the modulus has before it finds the digest in them.
        var digest = [UInt8](repeating: 0, count: signatureLength)
        var count = digest.count
        return EVP_PKEY_verify_recover(context, &digest, &count, signature, signature.count) == 1
            && count == 32
    }
}
