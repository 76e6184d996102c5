import LoadTest
import Testing

@Suite("Latency histogram")
struct LatencyHistogramTests {
    @Test(
        "a quantile is within one 64th of the exact one, and never below it",
        arguments: [1.0, 7, 64, 65, 1000, 123_456_789])
    func quantiles(scale: Double) {
        var histogram = LatencyHistogram()
        let values = (1...1000).map { UInt64((Double($0) * scale).rounded()) }
        for value in values.shuffled() { histogram.record(value) }
        #expect(histogram.count == 1000)
        #expect(histogram.maximum == values[999])
        for (part, exact) in [
            (0.0, values[0]), (0.001, values[0]), (0.5, values[499]), (0.99, values[989]), (1, values[999]),
        ] {
            let found = histogram.quantile(part)
            #expect(found >= exact)
            #expect(Double(found) <= Double(exact) * (1 + 1.0 / 64), "\(part) of \(scale)")
        }
    }

    @Test("the shortest and the longest that there are have a place")
    func extremes() {
        var histogram = LatencyHistogram()
        histogram.record(0)
        histogram.record(.max)
        #expect(histogram.quantile(0.5) == 0)
        #expect(histogram.quantile(1) == .max)
        #expect(histogram.classes.map(\.count) == [1, 1])
    }

    @Test("without anything recorded, all is 0")
    func empty() {
        #expect(LatencyHistogram().quantile(0.99) == 0)
    }

    @Test("two together have what each has")
    func sum() {
        var (one, other) = (LatencyHistogram(), LatencyHistogram())
        for value in 1...100 as ClosedRange<UInt64> { one.record(value) }
        for value in 101...200 as ClosedRange<UInt64> { other.record(value) }
        one.add(other)
        #expect(one.count == 200)
        #expect((98...102).contains(one.quantile(0.5)))
        #expect(one.maximum == 200)
    }
}
