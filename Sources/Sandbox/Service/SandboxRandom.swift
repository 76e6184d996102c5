internal import Basics

/// Chooses codes and identifiers: by a seed, or by the system's random source.
struct SandboxRandom: RandomNumberGenerator {
    /// The state of SplitMix64 (Steele, Lea and Flood, 2014); `nil` without a seed.
    private var state: UInt64?

    init(seed: UInt64?) { state = seed }

    mutating func next() -> UInt64 {
        guard let last = state else { return .random(in: 0 ... .max) }
        let state = last &+ 0x9E37_79B9_7F4A_7C15
        self.state = state
        let first = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        let second = (first ^ first >> 27) &* 0x94D0_49BB_1331_11EB
        return second ^ second >> 31
    }

    /// The code of a session, without letters and digits that a viewer may confuse when typing it into a second screen.
    mutating func code() -> String {
        String((0..<7).map { _ in "ABCDEFGHJKLMNPQRSTUVWXYZ23456789".randomElement(using: &self) ?? "A" })
    }

    /// An identifier in the form of a UUID of version 4 (RFC 9562, 5.4).
    mutating func identifier() -> String {
        let high = (next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000).hexadecimal
        let low = (next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000).hexadecimal
        return "\(high.prefix(8))-\(high.dropFirst(8).prefix(4))-\(high.suffix(4))-\(low.prefix(4))-\(low.suffix(12))"
    }
}
