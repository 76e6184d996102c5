internal import TextEncodings
public import Timestamps
package import TokenCrypto

/// A public key that tokens may be signed with. Immutable; a class, since every verdict holds on to one.
public final class VerificationKey: Sendable {
    /// What verdicts call it: the subject of its certificate, or the name of its file.
    public let name: String
    /// The file that it was read from.
    public let file: String
    /// When its certificate is valid; `nil` for a bare key.
    public let validity: ClosedRange<Timestamp>?

    package let publicKey: RSAPublicKey
    /// The time range in which this key may verify tokens, in milliseconds since 1970.
    private let usable: ClosedRange<Int64>

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
        usable = .min ... .max
    }

    /// A certificate's key, named after its subject.
    ///
    /// - Parameter ignoresDates: whether it may verify outside of its certificate's validity too.
    init(_ certificate: Certificate, file: String, ignoresDates: Bool) {
        self.file = file
        publicKey = certificate.key
        name = printable(certificate.subject.isEmpty ? file : certificate.subject)
        let (begin, end) = (certificate.validity.lowerBound, certificate.validity.upperBound)
        validity = Timestamp(milliseconds: begin * 1000)...Timestamp(milliseconds: end * 1000)
        usable = ignoresDates ? .min ... .max : begin * 1000...end * 1000
    }

    /// Joins two entries for one key. The joined key is valid from the earlier start to the later end; without end, if one
    /// entry is a bare key.
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

    /// This key, usable also for as long as `other` allows. Both are entries for the same key and are usable now, so their
    /// ranges overlap.
    func joined(with other: VerificationKey) -> VerificationKey {
        usable.contains(other.usable) ? self : VerificationKey(self, and: other)
    }

    /// Whether it may verify tokens at `now`.
    func isUsable(at now: Timestamp) -> Bool { usable.contains(now.milliseconds) }
}
