internal import Basics
internal import CommandShell
internal import LoadTest

/// What `bench gate` has measured, and how.
struct GateMeasurement {
    static let mainFigure = "answersPerSecond"
    /// The part of the time from which on the thread that sends is what sets the pace.
    static let busy = 0.9

    let figures: GateFigures
    let invocation: BenchGateCommand.Invocation
    /// The requests a second that were asked for; `nil` for flat out.
    let rate: Double?
    /// The queue that the tokens came from; `nil` if the requests carried none.
    let tokens: TokenQueue?
    /// The processor time that the gate used meanwhile, in seconds; `nil` if it is not known.
    let gateProcessorSeconds: Double?

    /// Whether each request was answered, with the expected code.
    var isAsExpected: Bool {
        figures.codes.keys.allSatisfy(invocation.asked.expected.hasSameBytes)
            && figures.unanswered + figures.unsent == 0
    }

    /// The answers in a second of a processor of the gate; `nil` if its processor time is not known.
    var answersPerProcessorSecond: Double? {
        gateProcessorSeconds.flatMap { $0 < 0.001 ? nil : Double(figures.answers) / $0 }
    }

    private var target: String { rate.map { "\(Figure.count($0)) requests a second" } ?? "flat out" }

    private var setting: String {
        let means = invocation.asked.question.means
        let sent =
            tokens.map { "\(Figure.count($0.count)) tokens" } ?? (means == .grant ? "by grant" : "without a token")
        let connections = Figure.count(invocation.load.connections, "connection")
        return "\(invocation.url), \(connections), \(target), \(sent)"
    }

    /// Why the run ended early, and what to do; `nil` if the tokens sufficed.
    private var shortage: String? {
        figures.ranOutAfter.map { seconds in
            let advice = rate == nil ? "or set a --rate" : "or set a lower --rate"
            return "tokens ran out after \(Figure.decimal(seconds, places: 1)) of "
                + "\(Figure.decimal(invocation.load.seconds, places: 0)) s: signing makes about "
                + "\(Figure.count(tokens?.speed ?? 0)) a second here; sign more ahead with --count, \(advice)"
        }
    }

    /// What kept the gate from answering more.
    private var bottleneck: (name: String, words: String) {
        let busy = Figure.decimal(figures.busyPart * 100, places: 0) + " %"
        if figures.busyPart >= Self.busy {
            return ("load", "this load: its thread was busy \(busy) of the time, so the gate may do more")
        }
        let isKept = rate != nil && figures.unsent + figures.unanswered == 0
        return isKept
            ? ("rate", "the rate, which the gate kept up with; the load's thread was busy \(busy) of the time")
            : ("gate", "the gate, or the way to it; the load's thread was busy \(busy) of the time")
    }

    var report: LoadReport {
        var report = LoadReport(title: "Gate", setting: setting, target: target)
        let question = invocation.asked.question
        report.add(condition: "endpoint", question.endpoint.rawValue)
        report.add(condition: "by", question.means.rawValue)
        report.add(condition: "connections", invocation.load.connections)
        report.add(condition: "rate", rate)
        report.add(member: "seconds", figures.seconds)
        report.add(member: "tokensRanOutAfterSeconds", figures.ranOutAfter)
        report.add(
            member: "tokensSignedPerSecond", tokens.flatMap { $0.isSigning ? $0.speed : nil })
        report.add(member: "shortage", shortage)
        report.add(
            member: "details", figures.details)
        report.add(member: "bottleneck", bottleneck.name)
        addFigures(to: &report)
        report.add(latency: figures.latency, of: "answer", title: "How long an answer takes")
        let (turns, turnSeconds) = figures.timeLine
        report.add([("answers a second", figures.rates)], turnSeconds: turnSeconds, title: "Answers over time")
        report.add(latencies: turns, turnSeconds: turnSeconds)
        return report
    }

    private func addFigures(to report: inout LoadReport) {
        report.add(
            "answers",
            [
                ReportFigure("# a second", [Self.mainFigure], figures.answersPerSecond, better: .higher),
                ReportFigure("# in all", ["answers"], figures.answers),
            ])
        if rate == nil { report.add("turns", .spread(ofTurns: figures.rates)) }
        report.add("latency", .latency(figures.latency, "latencyNanoseconds"))
        addCodes(to: &report)
        report.add("bottleneck", words: bottleneck.words)
        report.add(
            "gate",
            [
                ReportFigure(
                    "# processors busy", ["gateProcessors"], gateProcessorSeconds.map { $0 / figures.seconds },
                    .decimal(2)),
                ReportFigure(
                    "# answers a second of a processor", ["answersPerProcessorSecond"],
                    answersPerProcessorSecond, better: .higher),
            ])
        report.add(figures.processor)
    }

    /// The codes of the answers, the most frequent first, and a notice for each that was not expected, with the reason
    /// that the gate gave with its first answer.
    private func addCodes(to report: inout LoadReport) {
        let codes = figures.codes.sorted { $0.value > $1.value }
        let lost = [("no answer", "unanswered", figures.unanswered), ("due, not sent", "unsent", figures.unsent)]
        report.add(
            "codes",
            codes.map { ReportFigure("\(printable($0)) #", ["codes", $0], $1) }
                + lost.map { ReportFigure("\($0) #", [$1], $2, isShown: $2 > 0) })
        for (code, _) in codes where !invocation.asked.expected.hasSameBytes(as: code) {
            let reason = figures.details[code] ?? "no reason is given"
            report.add(notice: "expected \(invocation.asked.expected); \(printable(code)): \(reason)", .bad)
        }
        report.add(notice: shortage, .doubt)
    }
}
