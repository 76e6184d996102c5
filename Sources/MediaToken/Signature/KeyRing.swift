internal import Synchronization
public import Timestamps
package import TokenCrypto

/// The keys that tokens may be signed with, loaded and checked once, at start.
///
/// Never empty. Safe to use from any number of threads at once.
public final class KeyRing: Sendable {
    /// How a directory's key files are recognised; other files in it are passed over.
    public static let fileExtensions = ["pem", "der", "crt", "cer", "pub", "p12", "pfx", "jks"]

    /// The loaded keys, each once.
    public let keys: [VerificationKey]
    /// Keys found in a directory and not loaded, each with the reason. Worth a warning.
    public let refused: [RefusedKey]

    private let mostRecent = Atomic<Int>(0)

    /// Index of the key that verified a signature last.
    var lastSuccessful: Int {
        get { mostRecent.load(ordering: .relaxed) }
        set { if newValue != lastSuccessful { mostRecent.store(newValue, ordering: .relaxed) } }
    }

    /// Loads the keys of a file or of a directory.
    ///
    /// - Parameters:
    ///   - path: a file, or a directory whose files are taken by their extension (``fileExtensions``).
    ///   - minimumRSABits: the shortest modulus accepted, in bits.
    ///   - password: for PKCS#12 and JKS.
    /// - Throws: ``KeyRingError``; above all where no key is usable.
    public convenience init(
        loading path: String, minimumRSABits: Int = 2048, password: String? = nil
    ) throws(KeyRingError) {
        try self.init(
            loading: [path], password: password, requirements: KeyRequirements(minimumRSABits: minimumRSABits))
    }

    /// Loads the keys of several files and directories.
    ///
    /// A file that is named must be acceptable as a whole. In a directory, what is not is left out and listed in
    /// ``refused``.
    ///
    /// - Parameters:
    ///   - paths: files, and directories whose files are taken by their extension.
    ///   - password: for PKCS#12 and JKS; the same for all.
    ///   - requirements: what a key must fulfil.
    ///   - now: the moment at which certificates must be valid.
    /// - Throws: ``KeyRingError``; above all where no key is usable.
    public convenience init(
        loading paths: [String], password: String? = nil, requirements: KeyRequirements = KeyRequirements(),
        at now: Timestamp = .now
    ) throws(KeyRingError) {
        try self.init(loading: paths, unsafelyTrusting: nil, password: password, requirements: requirements, at: now)
    }

    /// The same beside a key of whoever signs tokens itself: a load test. Nothing is asked of that one.
    package init(
        loading paths: [String], unsafelyTrusting own: RSAPublicKey?, password: String? = nil,
        requirements: KeyRequirements,
        at now: Timestamp = .now
    ) throws(KeyRingError) {
        var loader = KeyLoader(password: password, requirements: requirements, now: now)
        if let own { loader.unsafelyTrust(own) }
        for path in paths { try loader.load(path) }
        guard !loader.accepted.isEmpty else { throw .noKeys(places: paths, refused: loader.refused) }
        keys = loader.accepted
        refused = loader.refused
        do {
            _ = try VerificationWorkspace(keys: keys)
        } catch {
            throw .libcrypto("\(error)")
        }
    }
}
