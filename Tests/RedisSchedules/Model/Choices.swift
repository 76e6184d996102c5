/// The choices of a schedule: drawn by chance, and kept, so that the schedule can be run again and made shorter.
package struct Choices {
    private var given: [UInt32]?
    private var state: UInt64
    private(set) var taken: [UInt32] = []

    /// Choices drawn by chance from a seed.
    init(seed: UInt64) {
        state = seed
    }

    /// Choices made before. Those that are missing at the end are 0.
    init(_ given: [UInt32]) {
        self.given = given
        state = 0
    }

    /// Whether all choices that were given are used up.
    var isUsedUp: Bool { given.map { taken.count >= $0.count } ?? false }

    /// A number below `count`.
    mutating func pick(_ count: Int) -> Int {
        let next: UInt32
        if let given {
            next = taken.count < given.count ? given[taken.count] : 0
        } else {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            next = UInt32(truncatingIfNeeded: (word ^ (word >> 31)) >> 16)
        }
        taken.append(next)
        return Int(next) % count
    }

    mutating func chance(_ percent: Int) -> Bool { pick(100) >= 100 - percent }
}
