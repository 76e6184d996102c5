/// The quantiles that load tests show, by the names that people give them.
package enum Quantile: String, CaseIterable, Sendable {
    case p50, p90, p99
    case p999 = "p99.9"

    /// The part of the measurements that does not exceed it, from 0 to 1.
    var part: Double {
        switch self {
        case .p50: 0.5
        case .p90: 0.9
        case .p99: 0.99
        case .p999: 0.999
        }
    }
}

/// Counts latencies in classes, each at most 1/64 as wide as the values that it holds.
///
/// Its size depends on the longest latency, not on the number of measurements.
package struct LatencyHistogram: Sendable {
    /// The number of classes for each power of two.
    private static let resolution = 64
    private static let resolutionBits = 6

    /// The counts up to that of the longest latency.
    private var counts: [UInt64] = []
    package private(set) var count: UInt64 = 0
    /// The longest latency in nanoseconds, exact.
    package private(set) var maximum: UInt64 = 0

    package init() {}

    package mutating func record(_ nanoseconds: UInt64) {
        let index = Self.index(of: nanoseconds)
        grow(to: index + 1)
        counts[index] += 1
        count += 1
        maximum = max(maximum, nanoseconds)
    }

    package mutating func add(_ other: LatencyHistogram) {
        grow(to: other.counts.count)
        for index in other.counts.indices { counts[index] += other.counts[index] }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    package func adding(_ other: LatencyHistogram) -> LatencyHistogram {
        var sum = self
        sum.add(other)
        return sum
    }

    private mutating func grow(to size: Int) {
        if counts.count < size { counts += repeatElement(0, count: size - counts.count) }
    }

    package func quantile(_ quantile: Quantile) -> UInt64 { self.quantile(quantile.part) }

    /// The nanoseconds that the fraction `part` (0 to 1) of the measurements does not exceed; 0 if there are none.
    package func quantile(_ part: Double) -> UInt64 {
        let wanted = max(1, UInt64((part * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for index in counts.indices where counts[index] > 0 {
            seen += counts[index]
            if seen >= wanted { return min(Self.highest(of: index), maximum) }
        }
        return maximum
    }

    /// The non-empty classes: the longest latency that each can hold, in nanoseconds, and its count.
    package var classes: [(upTo: UInt64, count: UInt64)] {
        counts.indices.filter { counts[$0] > 0 }.map { (Self.highest(of: $0), counts[$0]) }
    }

    /// The class of a value: its own below `resolution`, otherwise that of its width and leading 7 bits.
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
