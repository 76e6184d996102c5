internal import COpenSSL
internal import Glibc

/// An X.509 certificate, reduced to what a verification key needs. The issuer's signature is not checked: the
/// certificate is trusted because an operator installed it, not because of who issued it.
package struct Certificate: Sendable {
    /// The subject in the notation of RFC 2253, for example `CN=Adobe Pass,O=Adobe`.
    package let subject: String
    package let key: RSAPublicKey
    /// The certificate as DER.
    package let derBytes: [UInt8]
    /// The first and last second of the validity period, in seconds since 1970.
    package let validity: ClosedRange<Int64>

    /// Reads one DER certificate; `nil` for anything else.
    ///
    /// - Throws: ``KeyFileError`` if the certificate's key or dates cannot be used.
    package init?(ifDER bytes: [UInt8]) throws(KeyFileError) {
        guard let certificate = try ParsedCertificate(ifDER: bytes) else { return nil }
        try self.init(certificate)
    }

    /// Reads a certificate that was parsed.
    init(_ parsed: ParsedCertificate) throws(KeyFileError) {
        let certificate = parsed.pointer
        derBytes = try encodeDER { i2d_X509(certificate, $0) }
        subject = parsed.subject
        let begin = try Self.seconds(X509_get0_notBefore(certificate))
        let end = try Self.seconds(X509_get0_notAfter(certificate))
        guard begin <= end else { throw .malformed("a certificate that ends before it begins") }
        validity = begin...end
        guard let pointer = X509_get_pubkey(certificate) else {
            throw .malformed("a certificate without a readable key (\(CryptoError.drainQueue()))")
        }
        key = try RSAPublicKey(takingOwnership: pointer)
    }

    /// The certificate as PEM `CERTIFICATE`.
    package func pemText() throws(CryptoError) -> String {
        try withMemoryBIO { (bio) throws(CryptoError) in
            guard PEM_write_bio(bio, "CERTIFICATE", "", derBytes, derBytes.count) > 0 else {
                throw .libcrypto("cannot write the certificate as PEM")
            }
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(KeyFileError) -> Int64 {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else {
            throw .malformed("a certificate with an unreadable date")
        }
        return Int64(timegm(&fields))
    }
}
