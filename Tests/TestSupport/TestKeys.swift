package import TokenCrypto

/// Keys that live as long as the test process. Making one takes a moment, so each is made once.
package enum TestKeys {
    /// What tests sign with unless they are about keys.
    package static let standard = make(2048)
    /// A key that no verifier of a test has loaded.
    package static let stranger = make(2048)
    /// As short as Adobe's own was.
    package static let short = make(1024)

    private static func make(_ bits: Int) -> RSASigningKey {
        do { return try RSASigningKey.generate(bits: bits) } catch { preconditionFailure("\(error)") }
    }
}
