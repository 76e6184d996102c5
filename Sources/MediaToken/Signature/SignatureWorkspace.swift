internal import TokenCrypto

/// What one thread needs to verify signatures, kept from group to group: libcrypto's contexts, and which key verified last.
///
/// Not thread-safe: one caller at a time.
package final class SignatureWorkspace {
    let hasher: SHA256Hasher
    /// One for each key, in the key ring's order.
    let verifiers: [SignatureVerifier]
    /// The index of the key that verified a signature last, which is tried first.
    var mostRecent = 0

    package init(keys: KeyRing) throws(SignatureError) {
        do {
            hasher = try SHA256Hasher()
            verifiers = try keys.keys.map { (key) throws(CryptoError) in try SignatureVerifier(key: key.publicKey) }
        } catch {
            throw .outOfResources("\(error)")
        }
    }
}
