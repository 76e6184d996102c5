internal import Basics

/// The samples of one metric, in Prometheus's text format (exposition formats, 0.0.4).
struct MetricFamily {
    enum Kind: String {
        case counter, gauge, histogram
    }

    let metric: GateMetric
    private var samples: [String] = []
    private var declaration: GateMetric.Declaration { metric.declaration }

    init(_ metric: GateMetric) { self.metric = metric }

    /// Creates a family with a single sample without labels.
    init(_ metric: GateMetric, _ value: some CustomStringConvertible) {
        self.init(metric)
        add(value)
    }

    /// - Parameters:
    ///   - suffix: The suffix of the name, such as the `_bucket` of a histogram's samples.
    ///   - values: The values of the metric's labels, in their order.
    ///   - bound: The upper bound of a bucket.
    mutating func add(
        _ value: some CustomStringConvertible, suffix: String = "", _ values: [String] = [], upTo bound: String? = nil
    ) {
        assert(
            values.count == declaration.labels.count,
            "\(metric.rawValue) has the labels \(declaration.labels)")
        let labels = Array(zip(declaration.labels, values)) + (bound.map { [("le", $0)] } ?? [])
        let pairs = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        samples.append("\(metric.rawValue)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)")
    }

    var text: String {
        let head = [
            "# HELP \(metric.rawValue) \(declaration.help)",
            "# TYPE \(metric.rawValue) \(declaration.kind.rawValue)",
        ]
        return (head + samples).map { $0 + "\n" }.joined()
    }

    private static func escaped(_ label: String) -> String {
        printable(label).unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    }
}
