internal import Basics
internal import EnvelopeStage
internal import TokenCrypto

/// The requirements that a key must meet to be loaded.
public struct KeyRequirements: Sendable {
    /// The lowest possible ``minimumRSABits``. Shorter RSA keys can be broken by anyone.
    public static let lowestMinimumRSABits = 1024
    static let maximumRSABits = TokenEnvelope.longestSignatureBits
    static let minimumExponent: UInt64 = 65_537

    /// The shortest modulus accepted, in bits; 2048 by default. Adobe's key of 2015–2021 had 1024.
    public let minimumRSABits: Int
    /// Whether a certificate is used outside its validity period, both when it is loaded and later.
    public let ignoresCertificateDates: Bool
    /// Whether a certificate that has issued another one of its file is loaded too: an authority that could then sign
    /// tokens itself.
    public let acceptsIssuers: Bool

    /// Creates requirements; the defaults are the strict ones.
    ///
    /// - Parameters:
    ///   - minimumRSABits: the shortest modulus accepted; values below ``lowestMinimumRSABits`` are treated as that.
    ///   - unsafeIgnoringCertificateDates: whether a certificate is also used while it is expired or not valid yet.
    ///   - acceptingIssuers: whether a certificate that has issued another one of its file is loaded too.
    public init(
        minimumRSABits: Int = 2048, unsafeIgnoringCertificateDates: Bool = false, acceptingIssuers: Bool = false
    ) {
        acceptsIssuers = acceptingIssuers
        self.minimumRSABits = max(minimumRSABits, Self.lowestMinimumRSABits)
        ignoresCertificateDates = unsafeIgnoringCertificateDates
    }

    /// Why `key` may not be used at `now`; `nil` if it may be used.
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
