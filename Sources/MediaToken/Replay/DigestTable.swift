/// A set of digests in one block of memory, with open addressing and 16 bytes per slot. Once the table has grown,
/// between 53 and 80 per cent of its slots are in use, which makes 20 to 30 bytes per entry. An entry is half of a
/// digest.
struct DigestTable: Sendable {
    private typealias Slot = SIMD2<UInt64>

    private static let empty = Slot(0, 0)
    private static let initialCapacity = 8

    private var slots: [Slot]
    private(set) var count = 0

    /// The size of the block in bytes.
    var bytes: Int { slots.count * MemoryLayout<Slot>.stride }

    init() {
        slots = Array(repeating: Self.empty, count: Self.initialCapacity)
    }

    func contains(_ half: SIMD2<UInt64>) -> Bool {
        let slot = Self.slot(of: half)
        return slots[position(of: slot)] == slot
    }

    /// Reads the slot at which the search for a half begins, so that the processor has it at hand when it is needed.
    func touch(_ half: SIMD2<UInt64>) -> UInt64 {
        slots[start(of: Self.slot(of: half))][0]
    }

    /// Inserts half a digest; `false` if the table already had it.
    mutating func insert(_ half: SIMD2<UInt64>) -> Bool {
        let slot = Self.slot(of: half)
        let position = position(of: slot)
        guard slots[position] != slot else { return false }
        slots[position] = slot
        count += 1
        if count * 5 > slots.count * 4 { grow() }
        return true
    }

    /// The slot of half a digest. All zeros mark an empty slot, so a half of zeros is stored as another value.
    private static func slot(of half: SIMD2<UInt64>) -> Slot {
        half == empty ? Slot(0, 1) : half
    }

    private func start(of slot: Slot) -> Int {
        Int(slot[0].multipliedFullWidth(by: UInt64(slots.count)).high)
    }

    /// The position of `slot`, or the one where it would be inserted.
    private func position(of slot: Slot) -> Int {
        var position = start(of: slot)
        while slots[position] != slot, slots[position] != Self.empty {
            position = position + 1 == slots.count ? 0 : position + 1
        }
        return position
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Self.empty, count: old.count + old.count / 2)
        for slot in old where slot != Self.empty { slots[position(of: slot)] = slot }
    }
}
