internal import COpenSSL

/// Verifies RSASSA-PKCS1-v1_5 signatures over SHA-256 (RFC 8017, 8.2.2) with one key.
///
/// libcrypto does the arithmetic of a signature that comes alone. Objects that its general interface creates for each
/// signature (a dozen objects, the Montgomery parameters, tables for long exponents) are created once here. As the RFC
/// specifies, the message that the signature encodes is not parsed: the only valid encoded message is built, and the
/// two are compared as a whole.
///
/// It is not thread-safe: it serves one caller at a time.
package final class SignatureVerifier {
    /// Verifies several signatures of the key at once; `nil` if the key or this process does not allow that.
    package private(set) lazy var batch = engine().flatMap { BatchVerifier(key: key, engine: $0) }

    private let key: RSAPublicKey
    private let engine: () -> BatchVerifier.Engine?
    private let general: GeneralVerifier
    private let exponent: UInt64
    private let multiplier: ModularMultiplier
    private let signature: BigNumber
    private let base: BigNumber
    private let power: BigNumber
    private let expected: BigNumber
    private let digest: BigNumber
    /// The encoded message of a valid signature, with zeros in place of the digest at its end.
    private let encodedMessage: BigNumber

    /// - Parameter engine: the engine that verifies several signatures at once. It is asked for when the first group
    ///   comes, since the test that a process makes of its engine takes some ten milliseconds.
    /// - Throws: ``CryptoError`` if the key's exponent is 1, even or above 64 bits, or its modulus is even or too
    ///   short.
    package init(
        key: RSAPublicKey, engine: @autoclosure @escaping () -> BatchVerifier.Engine? = BatchEngine.inUse
    ) throws(CryptoError) {
        guard let exponent = key.exponent, exponent > 1, exponent % 2 == 1 else {
            throw .libcrypto("cannot verify with a public exponent that is even or needs more than 64 bits")
        }
        guard let modulus = key.modulus() else {
            throw .libcrypto("cannot copy the modulus (\(CryptoError.drainQueue()))")
        }
        (self.key, self.engine) = (key, engine)
        self.exponent = exponent
        general = try GeneralVerifier(key: key)
        multiplier = try ModularMultiplier(modulus: modulus)
        (signature, base) = (try BigNumber(), try BigNumber())
        (power, expected) = (try BigNumber(), try BigNumber())
        (digest, encodedMessage) = (try BigNumber(), try BigNumber())
        let bytes = try Self.encodedMessage(length: key.signatureLength)
        guard bytes.withUnsafeBytes(encodedMessage.read) else { throw .libcrypto("out of memory") }
    }

    /// Whether `signature` is this key's signature over `digest`; `false` also if libcrypto fails.
    ///
    /// - Parameter byGeneralInterface: whether ``GeneralVerifier`` decides, and not ``ModularMultiplier``; meant for a
    ///   signature that an engine has not called valid.
    package func isValid(_ signature: [UInt8], over digest: SHA256Digest, byGeneralInterface: Bool = false) -> Bool {
        guard signature.count == key.signatureLength else { return false }
        return byGeneralInterface ? general.isValid(signature, over: digest) : isPlainlyValid(signature, over: digest)
    }

    private func isPlainlyValid(_ signature: [UInt8], over digest: SHA256Digest) -> Bool {
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
        guard multiplier.toMontgomery(base, signature), multiplier.multiply(base, by: base, into: power) else {
            return false
        }
        let highest = UInt64.bitWidth - 1 - exponent.leadingZeroBitCount
        for bit in (0..<highest).reversed() {
            if exponent >> bit & 1 == 1 {
                guard multiplier.multiply(power, by: bit == 0 ? signature : base, into: power) else { return false }
            }
            guard bit == 0 || multiplier.multiply(power, by: power, into: power) else { return false }
        }
        return true
    }

    /// The EMSA-PKCS1-v1_5 encoding of a digest (RFC 8017, 9.2), or of zeros in its place.
    static func encodedMessage(length: Int, _ digest: SHA256Digest? = nil) throws(CryptoError) -> [UInt8] {
        let digest = digest?.bytes ?? [UInt8](repeating: 0, count: 32)
        // The DER encoding of the DigestInfo for SHA-256, up to the digest: RFC 8017, 9.2, note 1.
        let digestInfo: [UInt8] = [
            0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
            0x20,
        ]
        let padding = length - 3 - digestInfo.count - digest.count
        guard padding >= 8 else { throw .libcrypto("the modulus is too short for SHA-256") }
        return [0x00, 0x01] + repeatElement(0xFF, count: padding) + [0x00] + digestInfo + digest
    }
}
