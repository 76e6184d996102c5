internal import COpenSSL

/// An X.509 certificate as libcrypto has parsed it, whether or not its key can verify anything.
final class ParsedCertificate {
    /// The owned `X509`.
    let pointer: OpaquePointer

    /// Takes ownership of `pointer`.
    init(takingOwnership pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads one DER certificate; `nil` for anything else.
    ///
    /// - Throws: ``KeyFileError/notRSA(found:)`` if the certificate describes the curve of its key, which would take
    ///   long to decode.
    convenience init?(ifDER bytes: [UInt8]) throws(KeyFileError) {
        guard let key = KeyAlgorithm.publicKey(ofCertificate: bytes[...]) else { return nil }
        guard !KeyAlgorithm.describesCurve(key) else { throw .notRSA(EVP_PKEY_EC) }
        guard let pointer = decodeDER(bytes, with: { d2i_X509(nil, $0, $1) }, discarding: X509_free) else {
            CryptoError.discardQueue()
            return nil
        }
        self.init(takingOwnership: pointer)
    }

    deinit { X509_free(pointer) }

    /// The subject in the notation of RFC 2253; empty if libcrypto cannot print it.
    var subject: String {
        let text = try? withMemoryBIO { (bio) throws(CryptoError) in
            let written = X509_NAME_print_ex(bio, X509_get_subject_name(pointer), 0, shim_XN_FLAG_RFC2253)
            guard written >= 0 else { throw .libcrypto("cannot print a certificate's subject") }
        }
        return text ?? ""
    }

    /// The certificate as an entry of a key file.
    var entry: KeyFile.Entry {
        do throws(KeyFileError) { return .certificate(try Certificate(self)) } catch { return .unusable(error) }
    }

    /// How many signatures of the certificates of one file are verified. No real file needs as many.
    private static let mostVerifications = 100

    /// The certificates whose key has signed another one. A certificate that was issued again for the same key has
    /// signed no other.
    static func issuers(among certificates: [ParsedCertificate]) throws(KeyFileError) -> Set<ObjectIdentifier> {
        let named = Dictionary(grouping: certificates) { X509_subject_name_hash($0.pointer) }
        let candidates = certificates.map { named[X509_issuer_name_hash($0.pointer)] ?? [] }
        let verifications = zip(certificates, candidates).reduce(0) { count, pair in
            let isOwnCandidate = X509_subject_name_hash(pair.0.pointer) == X509_issuer_name_hash(pair.0.pointer)
            return count + pair.1.count - (isOwnCandidate ? 1 : 0)
        }
        guard verifications <= mostVerifications else {
            throw .malformed(
                "certificates with so many equal names that \(verifications) signatures would tell which has issued which; at most "
                    + "\(mostVerifications) are verified (put each certificate into a separate file)")
        }
        let issuers = zip(certificates, candidates).compactMap { certificate, candidates in
            candidates.first { $0.hasIssued(certificate) }
        }
        CryptoError.discardQueue()
        return Set(issuers.map(ObjectIdentifier.init))
    }

    private func hasIssued(_ other: ParsedCertificate) -> Bool {
        // A key of RSA with a longer exponent is never loaded, and would take the time of a signature.
        guard let key = X509_get0_pubkey(pointer), let otherKey = X509_get0_pubkey(other.pointer),
            EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA || RSAPublicKey.exponent(of: key) != nil
        else { return false }
        return EVP_PKEY_eq(key, otherKey) != 1 && X509_verify(other.pointer, key) == 1
    }
}
