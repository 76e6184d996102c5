package import Basics
package import TokenCrypto

/// The keys of a sandbox, in the forms in which Adobe distributes its own. Subjects and file names say *sandbox*.
package struct SandboxKeys: Sendable {
    /// The key that signs, except where a test card names another one.
    package let first: RSASigningKey
    /// The key that the test card `rotating-key` changes to.
    package let second: RSASigningKey
    /// The key that signs for the test card `other-key`. Nothing publishes it.
    package let unpublished: RSASigningKey
    private let certificates: [Certificate]
    private let made: Timestamp

    /// The password of the Java keystore: that of Adobe's own.
    package static let storePassword = "123456"
    /// The organization of the certificates. A gate warns of a key whose certificate or file name contains the word
    /// sandbox.
    package static let organization = "SANDBOX of media-token-sandbox"

    private static let validSeconds: Int64 = 367 * dayOfSeconds
    private static let dayOfSeconds: Int64 = 86_400

    /// Makes the keys that are not given, of 2048 bits, and certificates for those that are published.
    ///
    /// - Parameter given: The key that signs, for a sandbox whose tokens must verify with the same key after a restart.
    package init(first given: RSASigningKey? = nil, at now: Timestamp) throws(KeyFileError) {
        first = if let given { given } else { try RSASigningKey.generate(bits: 2048) }
        second = try RSASigningKey.generate(bits: 2048)
        unpublished = try RSASigningKey.generate(bits: 2048)
        made = now
        // Tokens of a clock that is behind must verify too.
        let start = now.wholeSeconds - Self.dayOfSeconds
        let validity = start...(start + Self.validSeconds)
        certificates = try [(self.first, "first sandbox key"), (self.second, "second sandbox key")].map {
            (key, name) throws(KeyFileError) in
            try Certificate(selfSignedBy: key, name: name, organization: Self.organization, validity: validity)
        }
    }

    /// The files of the published keys, by name: the two certificates, the first key as bare PEM, and both in the Java
    /// keystore that Adobe's verification library reads.
    package func files() throws(CryptoError) -> [(name: String, bytes: [UInt8])] {
        let store = JavaKeyStore.store(
            trusting: zip(["sandbox-first", "sandbox-second"], certificates).map { ($0, $1) },
            created: made.milliseconds, password: Self.storePassword)
        guard let store else { throw .libcrypto("no SHA-1 for a Java keystore") }
        return [
            ("sandbox-public-key.pem", Array(try first.publicKey.pemText().utf8)),
            ("sandbox-first.pem", Array(try certificates[0].pemText().utf8)),
            ("sandbox-second.pem", Array(try certificates[1].pemText().utf8)),
            ("media_token_keystore.jks", store),
        ]
    }
}
