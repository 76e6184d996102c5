internal import Basics
internal import SignatureStage
internal import Synchronization

/// A pool of paths. A thread gets the path that it had before if possible, which is still warm in its CPU cache.
final class PathPool: Sendable {
    /// The number of slots. Threads beyond this number share slots and the spare paths. The slots may also keep this
    /// many paths for threads that have ended.
    private static let slotCount: UInt = 64

    private let keys: KeyRing
    private let policy: VerificationPolicy
    private let slots = (0..<slotCount).map { _ in PathSlot() }
    private let spare = Guarded<[TokenPath]>([])

    init(keys: KeyRing, policy: VerificationPolicy) {
        (self.keys, self.policy) = (keys, policy)
    }

    func withPath<Value>(_ body: (TokenPath) -> Value) throws(VerificationError) -> Value {
        let slot = slots[Int(ThreadNumber.current % Self.slotCount)]
        let kept = slot.take() ?? spare.withLock { $0.popLast() }
        let path = if let kept { kept } else { try TokenPath(keys: keys, policy: policy) }
        defer { if !slot.put(path) { spare.withLock { $0.append(path) } } }
        return body(path)
    }
}

/// Holds one path, without a lock.
private final class PathSlot: Sendable {
    /// The address of a retained path; 0 if the slot is empty.
    private let address = Atomic<UInt>(0)
    /// Fills the cache line, so that threads with neighbouring slots do not contend for it.
    private let rest = InlineArray<6, UInt64>(repeating: 0)

    deinit {
        _ = take()
    }

    func take() -> TokenPath? {
        UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring)).map {
            Unmanaged<TokenPath>.fromOpaque($0).takeRetainedValue()
        }
    }

    /// Stores a path; `false` if the slot already has one.
    func put(_ path: TokenPath) -> Bool {
        let retained = Unmanaged.passRetained(path)
        let added = UInt(bitPattern: retained.toOpaque())
        let isFree = address.compareExchange(expected: 0, desired: added, ordering: .releasing).exchanged
        if !isFree { retained.release() }
        return isFree
    }
}
