/// How long things took: counts in classes that are at most 1/64 wide of what they hold, whatever the range.
///
/// Its size is the same for ten measurements and for ten billion.
package struct LatencyHistogram: Sendable {
    /// Classes for each power of two.
    private static let resolution = 64
    private static let resolutionBits = 6

    private var counts = [UInt64](repeating: 0, count: (64 - resolutionBits + 1) * resolution)
    package private(set) var count: UInt64 = 0
    /// The longest, in nanoseconds, exact.
    package private(set) var maximum: UInt64 = 0

    package init() {}

    package mutating func record(_ nanoseconds: UInt64) {
        counts[Self.index(of: nanoseconds)] += 1
        count += 1
        maximum = max(maximum, nanoseconds)
    }

    package mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    /// Nanoseconds within which that part of all was done, from 0 to 1; 0 where nothing was recorded.
    package func quantile(_ part: Double) -> UInt64 {
        let wanted = max(1, UInt64((part * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for index in counts.indices where counts[index] > 0 {
            seen += counts[index]
            if seen >= wanted { return min(Self.highest(of: index), maximum) }
        }
        return maximum
    }

    /// The classes in use: the longest that each holds, in nanoseconds, and how many it has.
    package var classes: [(upTo: UInt64, count: UInt64)] {
        counts.indices.filter { counts[$0] > 0 }.map { (Self.highest(of: $0), counts[$0]) }
    }

    /// Below `resolution` each number has a class of its own; above, the leading bits behind the first one tell.
    private static func index(of value: UInt64) -> Int {
        guard value >= UInt64(resolution) else { return Int(value) }
        let exponent = UInt64.bitWidth - 1 - value.leadingZeroBitCount - resolutionBits
        return (exponent + 1) * resolution + Int(value >> UInt64(exponent)) - resolution
    }

    private static func highest(of index: Int) -> UInt64 {
        guard index >= resolution else { return UInt64(index) }
        let exponent = UInt64(index / resolution - 1)
        let leading = UInt64(index % resolution + resolution)
        return leading << exponent | ((1 << exponent) - 1)
    }
}
