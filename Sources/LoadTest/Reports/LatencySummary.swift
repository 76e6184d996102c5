/// A figure in the results of a load test.
package struct ReportFigure {
    package let name: String
    /// Its place in the JSON.
    package let key: [String]
    package let value: Double
    package let shown: (Double) -> String

    package init(name: String, key: [String], value: Double, shown: @escaping (Double) -> String) {
        (self.name, self.key, self.value, self.shown) = (name, key, value, shown)
    }
}

/// The quantiles that a report shows for each latency.
package struct LatencySummary {
    private let values: [(name: String, nanoseconds: UInt64)]

    package init(_ histogram: LatencyHistogram) {
        values =
            [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)].map { ($0.0, histogram.quantile($0.1)) }
            + [("max", histogram.maximum)]
    }

    package var line: String {
        values.map { "\($0.name) \(Figure.time(nanoseconds: $0.nanoseconds))" }.joined(separator: "  ")
    }

    package var figures: [ReportFigure] {
        values.map { name, nanoseconds in
            ReportFigure(name: "latency \(name)", key: ["latencyNanoseconds", name], value: Double(nanoseconds)) {
                Figure.time(nanoseconds: $0)
            }
        }
    }

    package var object: [String: UInt64] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.nanoseconds) })
    }
}
