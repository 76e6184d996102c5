internal import TokenCrypto

/// A public key that tokens may be signed with. Immutable; a class, since every verdict holds on to one.
public final class VerificationKey: Sendable {
    /// What verdicts call it: the subject of its certificate, or the name of its file.
    public let name: String
    /// The file that it was read from.
    public let file: String
    /// When its certificate is valid; `nil` for a bare key.
    public let validity: ClosedRange<Timestamp>?

    let publicKey: RSAPublicKey

    /// Length of the modulus in bits.
    public var bits: Int { publicKey.bits }
    /// SHA-256 of the DER `SubjectPublicKeyInfo` in lower-case hexadecimal, as
    /// `openssl pkey -pubin -outform der | sha256sum` prints it.
    public var fingerprint: String { publicKey.fingerprint.hexadecimal }

    /// A bare key, named after its file.
    init(_ key: RSAPublicKey, file: String) {
        self.file = file
        publicKey = key
        name = printable(String(file.split(separator: "/").last ?? "key"))
        validity = nil
    }

    /// A certificate's key, named after its subject.
    init(_ certificate: Certificate, file: String) {
        self.file = file
        publicKey = certificate.key
        name = printable(certificate.subject.isEmpty ? file : certificate.subject)
        let (begin, end) = (certificate.validity.lowerBound, certificate.validity.upperBound)
        validity = Timestamp(milliseconds: begin * 1000)...Timestamp(milliseconds: end * 1000)
    }
}
