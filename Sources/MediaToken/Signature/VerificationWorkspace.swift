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

/// Lends workspaces out, to a thread the one that it had before: what a context holds is then still near its processor.
final class WorkspacePool: Sendable {
    /// Threads beyond these share slots, and what is left over. It is also how many may be kept for threads that are gone.
    private static let slotCount: UInt = 64

    private let keys: [VerificationKey]
    private let slots = (0..<slotCount).map { _ in WorkspaceSlot() }
    private let leftOver = Guarded<[VerificationWorkspace]>([])

    init(keys: [VerificationKey]) {
        self.keys = keys
    }

    func withWorkspace<Result>(
        _ body: (VerificationWorkspace) -> Result
    ) throws(CryptoError) -> Result {
        let slot = slots[Int(ThreadNumber.current % Self.slotCount)]
        let kept = slot.take() ?? leftOver.withLock { $0.popLast() }
        let workspace = if let kept { kept } else { try VerificationWorkspace(keys: keys) }
        defer { if !slot.put(workspace) { leftOver.withLock { $0.append(workspace) } } }
        return body(workspace)
    }
}

/// Room for one workspace, without a lock.
private final class WorkspaceSlot: Sendable {
    /// The address of a retained workspace; 0 for none.
    private let address = Atomic<UInt>(0)
    /// Fills the cache line up, so that threads with slots side by side do not wait for each other.
    private let rest = InlineArray<6, UInt64>(repeating: 0)

    deinit {
        _ = take()
    }

    func take() -> VerificationWorkspace? {
        UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring)).map {
            Unmanaged<VerificationWorkspace>.fromOpaque($0).takeRetainedValue()
        }
    }

    /// `false` where there is one already.
    func put(_ workspace: VerificationWorkspace) -> Bool {
        let retained = Unmanaged.passRetained(workspace)
        let added = UInt(bitPattern: retained.toOpaque())
        let isFree = address.compareExchange(expected: 0, desired: added, ordering: .releasing).exchanged
        if !isFree { retained.release() }
        return isFree
    }
}
