internal import TextEncodings

/// The samples of one metric, in Prometheus's text format (exposition formats, 0.0.4).
struct MetricFamily {
    enum Kind: String {
        case counter, gauge, histogram
    }

    let name: String
    let kind: Kind
    let help: String
    private var samples: [String] = []

    init(_ name: String, _ kind: Kind, _ help: String) {
        (self.name, self.kind, self.help) = (name, kind, help)
    }

    /// Creates a family with a single sample.
    init(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        self.init(name, kind, help)
        add(value)
    }

    /// - Parameter suffix: The suffix of the name, such as the `_bucket` of a histogram's samples.
    mutating func add(
        _ value: some CustomStringConvertible, suffix: String = "", _ labels: KeyValuePairs<String, String> = [:]
    ) {
        let pairs = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        samples.append("\(name)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)")
    }

    var text: String {
        (["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"] + samples).map { $0 + "\n" }.joined()
    }

    private static func escaped(_ label: String) -> String {
        printable(label).unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
    }
}
