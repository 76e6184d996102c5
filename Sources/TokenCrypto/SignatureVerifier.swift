internal import COpenSSL

/// Verifies RSASSA-PKCS1-v1_5 signatures over SHA-256 (RFC 8017, 8.2.2) with one key.
///
/// libcrypto does the arithmetic. Objects that its general interface creates for each signature (a dozen objects, the
/// Montgomery parameters, tables for long exponents) are created once here. As the RFC specifies, the message that the
/// signature encodes is not parsed: the only valid encoded message is built, and the two are compared as a whole.
///
/// It is not thread-safe: it serves one caller at a time.
package final class SignatureVerifier {
    private let key: RSAPublicKey
    private let exponent: UInt64
    private let multiplier: ModularMultiplier
    private let signature: BigNumber
    private let base: BigNumber
    private let power: BigNumber
    private let expected: BigNumber
    private let digest: BigNumber
    /// The encoded message of a valid signature, with zeros in place of the digest at its end.
    private let encodedMessage: BigNumber

    /// - Throws: ``CryptoError`` if the key's exponent is 1, even or above 64 bits, or its modulus is even or too
    ///   short.
    package init(key: RSAPublicKey) throws(CryptoError) {
        guard let exponent = key.exponent, exponent > 1, exponent % 2 == 1 else {
            throw .libcrypto("cannot verify with a public exponent that is even or needs more than 64 bits")
        }
        guard let modulus = key.modulus() else {
            throw .libcrypto("cannot copy the modulus (\(CryptoError.drainQueue()))")
        }
        self.key = key
        self.exponent = exponent
        multiplier = try ModularMultiplier(modulus: modulus)
        (signature, base) = (try BigNumber(), try BigNumber())
        (power, expected) = (try BigNumber(), try BigNumber())
        (digest, encodedMessage) = (try BigNumber(), try BigNumber())
        let bytes = try Self.encodedMessage(length: key.signatureLength)
        guard bytes.withUnsafeBytes(encodedMessage.read) else { throw .libcrypto("out of memory") }
    }

    /// Whether `signature` is this key's signature over `digest`; `false` also if libcrypto fails.
    package func isValid(_ signature: [UInt8], over digest: SHA256Digest) -> Bool {
        guard signature.count == key.signatureLength else { return false }
        guard signature.withUnsafeBytes(self.signature.read), digest.withUnsafeBytes(self.digest.read),
            expected.add(encodedMessage, self.digest), self.signature < multiplier.modulus, raise()
        else {
            CryptoError.discardQueue()
            return false
        }
        return power == expected
    }

    /// Raises the signature to the public exponent, from the exponent's highest bit to its lowest: squares for each
    /// bit, and multiplies for each one. The lowest bit is a one, as the exponent is odd; its multiplication also
    /// converts the power back from Montgomery form.
    private func raise() -> Bool {
        guard multiplier.toMontgomery(base, signature) else { return false }
        var reached = base
        let highest = UInt64.bitWidth - 1 - exponent.leadingZeroBitCount
        for bit in (0..<highest).reversed() {
            guard multiplier.multiply(reached, by: reached, into: power) else { return false }
            reached = power
            guard exponent >> bit & 1 == 1 else { continue }
            guard multiplier.multiply(power, by: bit == 0 ? signature : base, into: power) else { return false }
        }
        return true
    }

    /// The EMSA-PKCS1-v1_5 encoding (RFC 8017, 9.2) with zeros in place of the digest.
    private static func encodedMessage(length: Int) throws(CryptoError) -> [UInt8] {
        let digestLength = 32
        // The DER encoding of the DigestInfo for SHA-256, up to the digest: RFC 8017, 9.2, note 1.
        let digestInfo: [UInt8] = [
            0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
            0x20,
        ]
        let padding = length - 3 - digestInfo.count - digestLength
        guard padding >= 8 else { throw .libcrypto("the modulus is too short for SHA-256") }
        return [0x00, 0x01] + repeatElement(0xFF, count: padding) + [0x00] + digestInfo
            + repeatElement(0, count: digestLength)
    }
}
