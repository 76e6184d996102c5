internal import Basics
internal import CommandShell
internal import LoadTest

/// The results of `bench gate`.
struct GateReport: BenchReport {
    static let mainFigure = "answersPerSecond"

    let title = "Gate"
    private let gate: GateFigures
    private let latency: LatencySummary
    private let invocation: BenchGateCommand.Invocation
    private let tokens: TokenQueue?

    /// - Parameter tokens: The queue that the tokens came from; `nil` if the requests carried none.
    init(_ figures: GateFigures, of invocation: BenchGateCommand.Invocation, _ tokens: TokenQueue?) {
        (gate, self.invocation, self.tokens) = (figures, invocation, tokens)
        latency = LatencySummary(figures.latency)
    }

    var target: String? { invocation.load.rate.map { "\(Figure.count($0)) requests a second" } ?? "flat out" }

    var setting: String {
        let means = invocation.asked.question.means
        let sent =
            tokens.map { "\(Figure.count($0.count)) tokens" } ?? (means == .grant ? "by grant" : "without a token")
        let connections = Figure.count(invocation.load.connections, "connection")
        return "\(invocation.url), \(connections), \(target ?? ""), \(sent)"
    }

    /// The codes of the answers, the most frequent first.
    private var answered: [(code: String, count: Int)] {
        gate.codes.sorted { $0.value > $1.value }.map { ($0.key, $0.value) }
    }

    private var codes: [(String, Int)] {
        answered.map { (printable($0.code), $0.count) }
            + [("no answer", gate.unanswered), ("due, not sent", gate.unsent)].filter { $0.1 > 0 }
    }

    /// Why the run ended early, and what to do; `nil` if the tokens sufficed.
    private var shortage: String? {
        gate.ranOutAfter.map { seconds in
            let advice = invocation.load.rate == nil ? "or set a --rate" : "or set a lower --rate"
            return "tokens ran out after \(Figure.decimal(seconds, places: 1)) of "
                + "\(Figure.decimal(invocation.load.seconds, places: 0)) s: signing makes about "
                + "\(Figure.count(tokens?.speed ?? 0)) a second here; sign more ahead with --count, \(advice)"
        }
    }

    /// One line for each code that was not expected, with the reason that the gate gave with its first answer.
    private var unexpected: [String] {
        let expected = invocation.asked.expected
        return answered.filter { $0.code != expected }.map { code, _ in
            "expected \(expected); \(printable(code)): \(gate.details[code] ?? "no reason is given")"
        }
    }

    var lines: [String] {
        [
            setting,
            "answers         \(Style.strong("\(Figure.count(gate.answersPerSecond)) a second")), "
                + "\(Figure.count(gate.answers)) in all",
            "latency         " + latency.line,
            "codes           " + codes.map { "\($0) \(Figure.count($1))" }.joined(separator: "  "),
        ] + unexpected + (shortage.map { [$0] } ?? [])
    }

    var conditions: [(name: String, value: String?)] {
        let question = invocation.asked.question
        return [
            ("endpoint", question.endpoint.rawValue), ("by", question.means.rawValue),
            ("connections", Figure.count(invocation.load.connections)),
            ("rate", invocation.load.rate.map { Figure.count($0) }),
        ]
    }

    var figures: [ReportFigure] {
        [
            ReportFigure(name: "answers a second", key: [Self.mainFigure], value: gate.answersPerSecond) {
                Figure.count($0)
            }
        ] + latency.figures
    }

    var results: [(name: String, value: String)] { codes.map { ($0, Figure.count($1)) } }

    var object: Object { Object(self) }

    struct Object: Encodable {
        let endpoint: String
        let by: String
        let connections: Int
        let rate: Double?
        let seconds: Double
        let answers: Int
        let answersPerSecond: Double
        let unanswered: Int
        let unsent: Int
        let tokensRanOutAfterSeconds: Double?
        let tokensSignedPerSecond: Double?
        let shortage: String?
        let latencyNanoseconds: [String: UInt64]
        let codes: [String: Int]
        let details: [String: String]

        fileprivate init(_ report: GateReport) {
            let (figures, question) = (report.gate, report.invocation.asked.question)
            (endpoint, by) = (question.endpoint.rawValue, question.means.rawValue)
            (connections, rate) = (report.invocation.load.connections, report.invocation.load.rate)
            (seconds, answers, answersPerSecond) = (figures.seconds, figures.answers, figures.answersPerSecond)
            (unanswered, unsent) = (figures.unanswered, figures.unsent)
            (codes, details) = (figures.codes, figures.details)
            (tokensRanOutAfterSeconds, shortage) = (figures.ranOutAfter, report.shortage)
            tokensSignedPerSecond = report.tokens.flatMap { $0.isSigning ? $0.speed : nil }
            latencyNanoseconds = report.latency.object
        }
    }

    func addPlots(to page: inout ReportPage) {
        for notice in unexpected + (shortage.map { [$0] } ?? []) { page.add(notice: notice) }
        page.add(latency: gate.latency, of: "answer", title: "How long an answer takes")
        let (turns, turnSeconds) = gate.timeLine
        let rates = turns.map { Double($0.count) / turnSeconds }
        page.add(
            LinePlot(series: [("answers a second", rates)], turnSeconds: turnSeconds) { Figure.axis($0) },
            title: "Answers over time")
        page.add(latencies: turns, turnSeconds: turnSeconds)
    }
}
