package import TokenCrypto

/// The objects that one thread keeps from group to group to verify signatures: libcrypto's contexts, and which key
/// verified last.
///
/// It is not thread-safe: it serves one caller at a time.
package final class SignatureWorkspace {
    let keys: [VerificationKey]
    let hasher: SHA256Hasher
    /// The verifiers of the keys, in the key ring's order.
    let verifiers: [SignatureVerifier]
    /// The index of the key that verified a signature last, which is tried first.
    var mostRecent = 0
    /// How many signatures an engine has called valid.
    package internal(set) var verifiedTogether = 0

    /// - Parameter engine: the engine that verifies several signatures at once. It is asked for when the first group
    ///   comes.
    package init(
        keys: KeyRing, engine: @autoclosure @escaping () -> BatchVerifier.Engine? = BatchEngine.inUse
    ) throws(SignatureError) {
        self.keys = keys.keys
        do {
            hasher = try SHA256Hasher()
            verifiers = try keys.keys.map { (key) throws(CryptoError) in
                try SignatureVerifier(key: key.publicKey, engine: engine())
            }
        } catch {
            throw .outOfResources("\(error)")
        }
    }
}
