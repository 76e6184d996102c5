internal import Timestamps
internal import TokenCrypto

/// What a key must fulfil to be loaded.
public struct KeyRequirements: Sendable {
    /// The shortest modulus that can be allowed at all. Below it, RSA is broken by anyone who tries.
    public static let lowestMinimumRSABits = 1024
    static let maximumRSABits = 8192
    static let minimumExponent: UInt64 = 65_537

    /// The shortest modulus accepted, in bits: 2048 unless set. Adobe's key of 2015–2021 had 1024.
    public let minimumRSABits: Int
    /// Whether a certificate may be used outside of its dates, at load and later.
    public let ignoresCertificateDates: Bool

    /// - Parameters:
    ///   - minimumRSABits: values below ``lowestMinimumRSABits`` count as that.
    ///   - unsafeIgnoringCertificateDates: uses a certificate also while it is expired, or not valid yet.
    public init(minimumRSABits: Int = 2048, unsafeIgnoringCertificateDates: Bool = false) {
        self.minimumRSABits = max(minimumRSABits, Self.lowestMinimumRSABits)
        ignoresCertificateDates = unsafeIgnoringCertificateDates
    }

    /// `nil` where `key` may be used at `now`.
    func refusal(of key: VerificationKey, at now: Timestamp) -> RefusedKey? {
        func refuse(_ reason: RefusedKey.Reason) -> RefusedKey { RefusedKey(file: key.file, reason: reason) }
        guard key.bits >= minimumRSABits else {
            return refuse(.tooShort(bits: key.bits, minimum: minimumRSABits))
        }
        guard key.bits <= Self.maximumRSABits else { return refuse(.tooLong(bits: key.bits)) }
        guard let exponent = key.publicKey.exponent, exponent >= Self.minimumExponent, exponent % 2 == 1 else {
            return refuse(.exponent(key.publicKey.exponent))
        }
        do { _ = try SignatureVerifier(key: key.publicKey) } catch { return refuse(.unreadable("\(error)")) }
        if let validity = key.validity, !key.isUsable(at: now) {
            return refuse(.outsideValidity(validity, now: now))
        }
        return nil
    }
}
