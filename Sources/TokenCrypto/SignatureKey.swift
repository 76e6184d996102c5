internal import Basics
internal import COpenSSL

/// A key that signs grants and test tokens: RSA, or ECDSA on the curve P-256. Its public key alone verifies what it
/// signs. Verification of tokens never needs a private key.
package final class SignatureKey: Sendable {
    /// What a key signs with.
    package enum Scheme: Sendable {
        /// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2).
        case rsa
        /// ECDSA on the curve P-256 (FIPS 186-4), its signatures as DER (RFC 3279, 2.2.3).
        case ecdsa
    }

    /// The key's owned `EVP_PKEY`. libcrypto documents one that nobody changes as safe to share between threads.
    nonisolated(unsafe) let pointer: OpaquePointer
    package let scheme: Scheme
    /// Whether the key signs too.
    package let isPrivate: Bool

    /// Takes ownership of `pointer`, also if this throws.
    init(takingOwnership pointer: OpaquePointer, isPrivate: Bool = true) throws(KeyFileError) {
        let isCurve = EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC && Self.curve(of: pointer) == "prime256v1"
        guard isCurve || EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA else {
            EVP_PKEY_free(pointer)
            throw .malformed("neither an RSA key nor one on the curve P-256")
        }
        (self.pointer, scheme, self.isPrivate) = (pointer, isCurve ? .ecdsa : .rsa, isPrivate)
    }

    /// Reads an unencrypted PEM private key in PKCS#8 form, or that of its kind (PKCS#1, SEC 1).
    ///
    /// - Parameter orPublic: Whether a PEM `PUBLIC KEY` is taken as well.
    package convenience init(pem: [UInt8], orPublic: Bool = false) throws(KeyFileError) {
        // Without the callback, libcrypto would ask for a password on the terminal and wait.
        let pair = Self.read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
        let reason = pair == nil ? CryptoError.drainQueue() : ""
        let key = orPublic ? pair ?? Self.read(pem) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) } : pair
        guard let key else {
            CryptoError.discardQueue()
            let found = Self.firstBlock(of: pem).map { "a PEM block '\($0)'" } ?? "no PEM block"
            throw .malformed(
                "\(found); expected an unencrypted PEM private key\(orPublic ? " or a public one" : "") (\(reason))")
        }
        try self.init(takingOwnership: key, isPrivate: pair != nil)
    }

    private static func read(_ pem: [UInt8], _ read: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        pem.withUnsafeBytes { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { BIO_free(bio) }
            return read(bio)
        }
    }

    /// The label of the first block of a PEM text (RFC 7468, 2), which says what the text is.
    private static func firstBlock(of pem: [UInt8]) -> String? {
        let begin = Array("-----BEGIN ".utf8)
        guard let start = pem[...].firstRange(of: begin)?.upperBound else { return nil }
        return printable(String(decoding: pem[start...].prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self), limit: 40)
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    private static func curve(of pointer: OpaquePointer) -> String? {
        var (name, length) = ([CChar](repeating: 0, count: 64), 0)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
            CryptoError.discardQueue()
            return nil
        }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Signs a digest of `message`.
    package func sign(_ message: [UInt8], _ digest: DigestAlgorithm = .sha256) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .libcrypto("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        var count = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, digest.algorithm, nil, pointer) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw .libcrypto("cannot sign (\(CryptoError.drainQueue()))") }
        // A signature of ECDSA has as many bytes as its numbers need.
        return Array(signature.prefix(count))
    }

    /// Whether `signature` is one of this key over a digest of `message`.
    package func verifies(
        _ signature: [UInt8], over message: [UInt8], _ digest: DigestAlgorithm
    ) throws(CryptoError) -> Bool {
        guard let context = EVP_MD_CTX_new() else { throw .libcrypto("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest.algorithm, nil, pointer) == 1 else {
            throw .libcrypto("cannot verify (\(CryptoError.drainQueue()))")
        }
        guard EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1 else {
            CryptoError.discardQueue()
            return false
        }
        return true
    }
}
