package import TokenCrypto

/// Keys that live as long as the test process. Making one takes a moment, so each is made once.
package enum TestKeys {
    /// What tests sign with unless they are about keys.
    package static let standard = make(2048)
    /// A key that no verifier of a test has loaded.
    package static let stranger = make(2048)
    /// As short as Adobe's own was.
    package static let short = make(1024)

    /// The DER `RSAPublicKey` (RFC 8017, A.1.1) of an odd modulus of so many bits, whose private half nobody has.
    package static func publicDER(bits: Int, exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        let first = UInt8(1) << UInt8((bits - 1) % 8)
        return publicDER(modulus: [first] + [UInt8](repeating: 0x55, count: (bits + 7) / 8 - 1), exponent: exponent)
    }

    /// The DER `RSAPublicKey` (RFC 8017, A.1.1) of a modulus, most significant byte first.
    package static func publicDER(modulus: [UInt8], exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = [UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            // The shortest form of the length alone is DER.
            let length = count[0] > 0 ? [0x82] + count : count[1] >= 0x80 ? [0x81, count[1]] : [count[1]]
            return [tag] + length + content
        }
        let sign: [UInt8] = modulus[0] >= 0x80 ? [0] : []
        return element(0x30, element(0x02, sign + modulus) + element(0x02, exponent))
    }

    private static func make(_ bits: Int) -> RSASigningKey {
        do { return try RSASigningKey.generate(bits: bits) } catch { preconditionFailure("\(error)") }
    }
}
