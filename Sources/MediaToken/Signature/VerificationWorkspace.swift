internal import Synchronization
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
final class WorkspacePool: Sendable {
    private let keys: [VerificationKey]
    /// The one that was given back last, as an address: taken and put back with one instruction each, since that is all that
    /// a verifier with one thread ever does. 0 for none.
    private let latest = Atomic<UInt>(0)
    private let idle = Guarded<[VerificationWorkspace]>([])

    init(keys: [VerificationKey]) {
        self.keys = keys
    }

    deinit {
        _ = takeLatest()
    }

    func withWorkspace<Result>(
        _ body: (VerificationWorkspace) -> Result
    ) throws(CryptoError) -> Result {
        let kept = takeLatest() ?? idle.withLock { $0.popLast() }
        let workspace = if let kept { kept } else { try VerificationWorkspace(keys: keys) }
        defer { putBack(workspace) }
        return body(workspace)
    }

    private func takeLatest() -> VerificationWorkspace? {
        UnsafeRawPointer(bitPattern: latest.exchange(0, ordering: .acquiring)).map {
            Unmanaged<VerificationWorkspace>.fromOpaque($0).takeRetainedValue()
        }
    }

    private func putBack(_ workspace: VerificationWorkspace) {
        let retained = Unmanaged.passRetained(workspace)
        let address = UInt(bitPattern: retained.toOpaque())
        guard !latest.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged else { return }
        retained.release()
        idle.withLock { $0.append(workspace) }
    }
}
