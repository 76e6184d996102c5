internal import Threading
internal import TokenCrypto
internal import TokenXML

/// What one thread needs while it verifies a group: libcrypto's and libxml2's contexts, kept from group to group.
///
/// Not thread-safe: a ``WorkspacePool`` lends it to one caller at a time.
final class VerificationWorkspace {
    let hasher: SHA256Hasher
    /// One for each key, in the key ring's order.
    let verifiers: [SignatureVerifier]
    let reader: StrictXMLReader

    init(keys: [VerificationKey]) throws(CryptoError) {
        hasher = try SHA256Hasher()
        verifiers = try keys.map { (key) throws(CryptoError) in try SignatureVerifier(key: key.publicKey) }
        do { reader = try StrictXMLReader() } catch { throw .libcrypto("cannot make an XML context: out of memory") }
    }
}

/// Lends workspaces out. It holds as many as were ever in use at once.
///
/// `@unchecked Sendable`: the idle ones are touched under the lock only, and a lent one belongs to its borrower.
final class WorkspacePool: @unchecked Sendable {
    private let keys: [VerificationKey]
    private let lock = Lock()
    private var idle: [VerificationWorkspace] = []

    init(keys: [VerificationKey]) {
        self.keys = keys
    }

    func withWorkspace<Result>(
        _ body: (VerificationWorkspace) -> Result
    ) throws(CryptoError) -> Result {
        let kept = lock.withLock { idle.popLast() }
        let workspace = if let kept { kept } else { try VerificationWorkspace(keys: keys) }
        defer { lock.withLock { idle.append(workspace) } }
        return body(workspace)
    }
}
