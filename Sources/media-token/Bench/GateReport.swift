internal import LoadTest

/// The results of `bench gate`.
struct GateReport: BenchReport {
    private let figures: GateFigures
    private let invocation: BenchGateCommand.Invocation
    private let tokens: Int

    init(_ figures: GateFigures, of invocation: BenchGateCommand.Invocation, corpus: TokenCorpus) {
        (self.figures, self.invocation, tokens) = (figures, invocation, corpus.items.count)
    }

    private var setting: String {
        let rate = invocation.load.rate.map { "\(Figure.count($0)) requests a second" } ?? "flat out"
        return "\(invocation.url), \(invocation.load.connections) connections, \(rate), \(Figure.count(tokens)) tokens"
    }

    private var statuses: [(String, Int)] {
        figures.statuses.sorted { $0.value > $1.value }.map { ($0.key, $0.value) }
            + [("no answer", figures.unanswered), ("due, not sent", figures.unsent)].filter { $0.1 > 0 }
    }

    var lines: [String] {
        [
            setting,
            "answers         \(Style.strong("\(Figure.count(figures.answersPerSecond)) a second")), "
                + "\(Figure.count(figures.answers)) in all",
            "latency         " + LatencySummary(figures.latency).line,
            "statuses        " + statuses.map { "\($0) \(Figure.count($1))" }.joined(separator: "  "),
        ]
    }

    var object: Object { Object(self) }

    struct Object: Encodable {
        let connections: Int
        let rate: Double?
        let seconds: Double
        let answers: Int
        let answersPerSecond: Double
        let unanswered: Int
        let unsent: Int
        let latencyNanoseconds: [String: UInt64]
        let statuses: [String: Int]

        fileprivate init(_ report: GateReport) {
            let figures = report.figures
            (connections, rate) = (report.invocation.load.connections, report.invocation.load.rate)
            (seconds, answers, answersPerSecond) = (figures.seconds, figures.answers, figures.answersPerSecond)
            (unanswered, unsent, statuses) = (figures.unanswered, figures.unsent, figures.statuses)
            latencyNanoseconds = LatencySummary(figures.latency).object
        }
    }

    var page: ReportPage {
        var page = ReportPage(title: "Gate", setting: setting)
        page.add(
            facts: [("answers a second", Figure.count(figures.answersPerSecond))]
                + statuses.map { ($0, Figure.count($1)) })
        page.add(latency: figures.latency, of: "an answer")
        page.add(timeLine: [("answers", figures.timeLine)], unit: "a second", seconds: figures.seconds)
        return page
    }
}

/// The quantiles that a report shows for each latency.
struct LatencySummary {
    private let values: [(name: String, nanoseconds: UInt64)]

    init(_ histogram: LatencyHistogram) {
        values =
            [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)].map { ($0.0, histogram.quantile($0.1)) }
            + [("max", histogram.maximum)]
    }

    var line: String {
        values.map { "\($0.name) \(Figure.time(nanoseconds: $0.nanoseconds))" }.joined(separator: "  ")
    }

    var object: [String: UInt64] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.nanoseconds) })
    }
}
