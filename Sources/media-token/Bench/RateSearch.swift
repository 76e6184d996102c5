internal import Basics
internal import CommandShell
internal import LoadTest

/// The latency that a rate must not exceed, such as `p99=10ms`.
struct LatencyGoal {
    static let form =
        "QUANTILE=TIME, for example p99=10ms; QUANTILE is p50, p90, p99 or p99.9, TIME ends in us, ms or s"

    let quantile: Quantile
    let nanoseconds: UInt64

    init?(_ text: String) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let quantile = Quantile(rawValue: String(sides[0])) else { return nil }
        let digits = sides[1].prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: UInt64] = ["us": 1000, "ms": 1_000_000, "s": 1_000_000_000]
        guard let number = UInt64(digits), (1...60_000_000).contains(number),
            let unit = units[sides[1].dropFirst(digits.count)]
        else { return nil }
        (self.quantile, nanoseconds) = (quantile, number * unit)
    }

    var text: String { "\(quantile.rawValue) within \(Figure.shortTime(nanoseconds: Double(nanoseconds)))" }
}

/// Finds the highest rate at which a gate keeps a latency: it doubles the rate until the gate does not, and halves the
/// interval then.
struct RateSearch {
    static let mainFigure = "highestRate"
    private static let firstRate = 250.0
    private static let highestRate = 1_000_000.0
    /// The rates that are tried between the last that was kept and the first that was not.
    private static let halvings = 4

    private struct Step {
        let rate: Double
        let gate: GateMeasurement
        let isKept: Bool
    }

    private let goal: LatencyGoal
    private let invocation: BenchGateCommand.Invocation
    private var steps: [Step] = []
    /// Why no higher rate was tried; `nil` if the gate did not keep one.
    private var limit: String?

    init(_ goal: LatencyGoal, _ invocation: BenchGateCommand.Invocation) {
        (self.goal, self.invocation) = (goal, invocation)
    }

    /// - Returns: Whether the gate kept some rate.
    mutating func run(_ gate: GateRun) throws(CommandError) -> Bool {
        var (kept, missed) = (0.0, Double?.none)
        var (rate, halvings) = (Self.firstRate, 0)
        while rate <= Self.highestRate, halvings <= Self.halvings, limit == nil {
            guard let isKept = try step(gate, at: rate) else { break }
            if isKept { kept = rate } else { missed = rate }
            guard let missed else {
                rate *= 2
                continue
            }
            halvings += 1
            rate = ((kept + missed) / 2).rounded()
        }
        steps.sort { $0.rate < $1.rate }
        return kept > 0
    }

    /// Loads the gate at a rate; `nil` if that rate cannot be sent.
    private mutating func step(_ gate: GateRun, at rate: Double) throws(CommandError) -> Bool? {
        let measured: GateMeasurement
        do { measured = try gate.load(at: rate, signsAhead: true) } catch {
            guard !steps.isEmpty else { throw error }
            limit = "no higher rate was tried: \(error.message)"
            return nil
        }
        let figures = measured.figures
        guard figures.answers > 0 || !steps.isEmpty else { throw gate.noAnswer }
        guard !Interruption.isRequested else {
            limit = "interrupted"
            return nil
        }
        let isComplete = measured.isAsExpected && figures.ranOutAfter == nil
        let isKept = isComplete && figures.latency.quantile(goal.quantile) <= goal.nanoseconds
        steps.append(Step(rate: rate, gate: measured, isKept: isKept))
        if figures.busyPart >= GateMeasurement.busy {
            limit =
                "this load is the limit: its thread was busy \(Figure.decimal(figures.busyPart * 100, places: 0)) % of the time"
        }
        return isKept
    }

    var report: LoadReport {
        let best = steps.last { $0.isKept }
        let seconds = Figure.decimal(invocation.load.seconds, places: 0)
        var report = LoadReport(
            title: "Gate, rate by rate",
            setting:
                "\(invocation.url), \(Figure.count(invocation.load.connections, "connection")), \(seconds) s at each rate",
            target: goal.text)
        report.add(condition: "goal", goal.text)
        report.add(condition: "endpoint", invocation.asked.question.endpoint.rawValue)
        report.add(condition: "connections", invocation.load.connections)
        report.add(
            "highest rate",
            [
                ReportFigure("# a second, with \(goal.text)", [Self.mainFigure], best?.rate ?? 0, better: .higher),
                ReportFigure(
                    "# a second of a processor of the gate", ["answersPerProcessorSecond"],
                    best?.gate.answersPerProcessorSecond, better: .higher),
            ])
        report.add(notice: limit, .doubt)
        report.add(steps.reduce(into: ProcessorTime()) { $0.add($1.gate.figures.processor) })
        report.add(.init("Steps", head: ["p50", "p99", "p99.9", "not sent", "kept"], steps.map(row)))
        report.add(latencies: steps.map(\.gate.figures.latency), atRates: steps.map(\.rate))
        return report
    }

    private func row(_ step: Step) -> LoadReport.Table.Row {
        let (latency, key) = (step.gate.figures.latency, ["steps", Figure.decimal(step.rate, places: 0)])
        let times = [Quantile.p50, .p99, .p999].map { quantile in
            ReportFigure("#", key + [quantile.rawValue], latency.quantile(quantile), .nanoseconds)
        }
        let unsent = ReportFigure("#", key + ["unsent"], step.gate.figures.unsent)
        let isKept = ReportFigure("#", key + ["isKept"], step.isKept ? 1 : 0, .flag)
        return .init(Figure.count(step.rate), times + [unsent, isKept], isFault: !step.isKept)
    }
}
