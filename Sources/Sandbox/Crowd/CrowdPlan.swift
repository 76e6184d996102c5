/// Devices that share a story, with consecutive numbers.
package struct CrowdParty: Sendable, Equatable {
    /// The number of its first device.
    package let first: Int
    package let story: CrowdStory
    /// The time at which its last device has arrived, in seconds from the start.
    package let arrival: Double
    /// Seconds by which the clock of its device is ahead, or behind if negative.
    package let clockError: Int
    /// The number of segments that each play fetches.
    package let segments: Int

    package init(first: Int, _ story: CrowdStory, arrival: Double = 0, clockError: Int = 0, segments: Int = 1) {
        (self.first, self.story, self.arrival) = (first, story, arrival)
        (self.clockError, self.segments) = (clockError, segments)
    }
}

/// The arrivals and stories of a crowd: a function of the seed. Nothing is stored for a device, so a crowd may be of
/// any size.
package struct CrowdPlan: Sendable {
    /// Devices per block. Each block has a random generator of its own, so a worker can draw it without those before
    /// it.
    package static let blockSize = 16

    package let devices: Int
    package let seconds: Double
    package let curve: CrowdCurve
    package let seed: UInt64
    /// The stories to draw from; all if it is empty.
    private let only: [CrowdStory.Kind]

    package init(
        devices: Int, seconds: Double, curve: CrowdCurve = .kickOff, seed: UInt64 = 1, only: [CrowdStory.Kind] = []
    ) {
        (self.devices, self.seconds, self.curve, self.seed, self.only) = (devices, seconds, curve, seed, only)
    }

    package var blocks: Int { (devices + Self.blockSize - 1) / Self.blockSize }

    /// The parties of a block, in the order of their arrival.
    package func parties(inBlock block: Int) -> [CrowdParty] {
        var (first, own) = (SandboxRandom(seed: seed), SandboxRandom(seed: UInt64(block)))
        var random = SandboxRandom(seed: first.next() ^ own.next())
        var parties: [CrowdParty] = []
        var next = block * Self.blockSize
        let end = min(next + Self.blockSize, devices)
        while next < end {
            let story = CrowdStory(most: end - next, only: only, by: &random)
            let last = Double(next + story.devices - 1) + Double.random(in: 0..<1, using: &random)
            parties.append(
                CrowdParty(
                    first: next, story, arrival: curve.time(whenArrived: last / Double(devices)) * seconds,
                    clockError: Self.clockError(by: &random), segments: Int.random(in: 1...3, using: &random)))
            next += story.devices
        }
        return parties
    }

    /// Most clocks are right to two seconds, some to five minutes, and a few to 20 hours. None of that may change a
    /// verdict.
    private static func clockError(by random: inout SandboxRandom) -> Int {
        let bound = [2, 2, 2, 2, 2, 2, 300, 300, 300, 72_000].randomElement(using: &random) ?? 2
        return Int.random(in: -bound...bound, using: &random)
    }
}
