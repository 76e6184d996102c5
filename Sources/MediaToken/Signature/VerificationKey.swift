public import Basics
package import TokenCrypto

/// A public key that tokens may be signed with. It is immutable, and a class because every verdict refers to one.
public final class VerificationKey: Sendable {
    /// The key's name in verdicts: the subject of its certificate, or the name of its file.
    public let name: String
    /// The file that the key was read from.
    public let file: String
    /// The validity period of the key's certificate; `nil` for a bare key.
    public let validity: ClosedRange<Timestamp>?

    package let publicKey: RSAPublicKey
    /// The time range in which this key may verify tokens, in milliseconds since 1970.
    private let usable: ClosedRange<Int64>

    /// The length of the modulus in bits.
    public var bits: Int { publicKey.bits }
    /// The SHA-256 digest of the DER `SubjectPublicKeyInfo` in lower-case hexadecimal, as
    /// `openssl pkey -pubin -outform der | sha256sum` prints it.
    public var fingerprint: String { publicKey.fingerprint.hexadecimal }

    /// Creates a bare key, named after its file.
    init(_ key: RSAPublicKey, file: String) {
        self.file = file
        publicKey = key
        name = printable(String(file.split(separator: "/").last ?? "key"))
        validity = nil
        usable = .min ... .max
    }

    /// Creates a certificate's key, named after the certificate's subject.
    ///
    /// - Parameter ignoresDates: whether the key may also verify outside its certificate's validity period.
    init(_ certificate: Certificate, file: String, ignoresDates: Bool) {
        self.file = file
        publicKey = certificate.key
        name = printable(certificate.subject.isEmpty ? file : certificate.subject)
        let (begin, end) = (certificate.validity.lowerBound, certificate.validity.upperBound)
        validity = Timestamp(milliseconds: begin * 1000)...Timestamp(milliseconds: end * 1000)
        usable = ignoresDates ? .min ... .max : begin * 1000...end * 1000
    }

    /// Joins two entries for one key. The joined key is usable from the earlier start to the later end, or always if
    /// one entry is a bare key.
    private init(_ key: VerificationKey, and other: VerificationKey) {
        (name, file, publicKey) = (key.name, key.file, key.publicKey)
        validity =
            if let own = key.validity, let others = other.validity {
                min(own.lowerBound, others.lowerBound)...max(own.upperBound, others.upperBound)
            } else {
                nil
            }
        let (own, others) = (key.usable, other.usable)
        usable = min(own.lowerBound, others.lowerBound)...max(own.upperBound, others.upperBound)
    }

    /// This key, also usable for as long as `other` is. Both are entries for the same key and are usable now, so their
    /// ranges overlap.
    func joined(with other: VerificationKey) -> VerificationKey {
        usable.contains(other.usable) ? self : VerificationKey(self, and: other)
    }

    /// Whether the key may verify tokens at `now`.
    func isUsable(at now: Timestamp) -> Bool { usable.contains(now.milliseconds) }
}
