internal import Basics
internal import CommandShell
internal import LoadTest
internal import Sandbox

/// What became of a crowd. It contains no token and no session GUID.
struct CrowdReport {
    private static let mostDifferences = 20

    let plan: CrowdPlan
    let figures: CrowdFigures
    let memory: [MemoryWatch.Series]
    /// Whether the run ended before the last device was done.
    let wasInterrupted: Bool

    private var tally: CrowdTally { figures.tally }

    private var setting: String {
        "\(Figure.count(plan.devices, "device")) in \(Figure.decimal(plan.seconds, places: 0)) s, curve \(plan.curve.rawValue), "
            + "seed \(plan.seed)"
    }

    private var verdict: String {
        let parties = tally.stories.values.reduce(0) { $0 + $1.parties }
        let done = "interrupted after \(Figure.count(tally.devices)) of \(Figure.count(plan.devices, "device")); "
        let comparison =
            tally.disagreeing == 0
            ? "expected and seen agree for all \(Figure.count(parties)) stories"
            : "\(Figure.count(tally.disagreeing)) of \(Figure.count(parties)) stories ended otherwise than expected"
        return (wasInterrupted ? done : "") + comparison
    }

    /// The report. If all happens as expected, only `times` and `run` differ between two runs with one seed.
    var report: LoadReport {
        var report = LoadReport(title: "Crowd", setting: setting)
        addMembers(to: &report)
        let rate = figures.seconds > 0 ? Double(tally.plays) / figures.seconds : 0
        report.add(
            "plays started",
            [
                ReportFigure("#", ["playsStarted"], tally.plays),
                ReportFigure("# a second", ["times", "playsPerSecond"], rate),
                ReportFigure("in # seconds", ["times", "seconds"], figures.seconds, .decimal(1)),
            ])
        addVerdict(to: &report)
        report.add(stories)
        report.add(codes)
        for (step, histogram) in latencies {
            report.add(step.rawValue, .latency(histogram, "times", "latencyNanoseconds", step.rawValue))
        }
        for series in memory { report.add("memory of \(series.name)", Self.memory(series)) }
        report.add(figures.processor, key: ["times", "processorShare"])
        addPlots(to: &report)
        return report
    }

    private func addMembers(to report: inout LoadReport) {
        report.add(member: "devices", plan.devices)
        report.add(member: "seconds", plan.seconds)
        report.add(member: "curve", plan.curve.rawValue)
        report.add(member: "seed", "\(plan.seed)")
        report.add(member: "isComplete", !wasInterrupted)
        report.add(member: "isAsExpected", tally.isAsExpected)
        report.add(member: "devicesDone", tally.devices)
        report.add(member: "acceptedTooOften", tally.acceptedTooOften)
        report.add(member: "disagreements", tally.disagreeing)
        report.add(
            member: "differences",
            tally.differences.map { kind in
                JSONValue([
                    "story": kind.difference.story, "difference": kind.difference.text, "parties": kind.parties,
                    "firstDevice": kind.device,
                ])
            })
    }

    private func addVerdict(to report: inout LoadReport) {
        report.add(notice: verdict, tally.disagreeing == 0 ? .none : .bad)
        let tooOften = Figure.count(tally.acceptedTooOften, "token")
        report.add(
            notice: tally.acceptedTooOften > 0
                ? "\(tooOften) accepted too often" : "no token was accepted more often than it may be",
            tally.acceptedTooOften > 0 ? .bad : nil)
        let kinds = tally.differences
        for (difference, parties, device) in kinds.prefix(Self.mostDifferences) {
            report.add(
                notice:
                    "\(difference.story), \(Figure.count(parties, "time")), first device \(device): \(difference.text)")
        }
        let others = kinds.count - Self.mostDifferences
        report.add(notice: others > 0 ? "and \(Figure.count(others, "kind")) of differences more" : nil)
    }

    /// The stories, those that ended otherwise first.
    private var stories: LoadReport.Table {
        let stories = tally.stories.sorted {
            ($1.value.disagreeing, $0.key) < ($0.value.disagreeing, $1.key)
        }
        return .init(
            "Stories", head: ["parties", "otherwise"],
            stories.map { name, count in
                .init(
                    name,
                    [
                        ReportFigure("#", ["stories", name, "parties"], count.parties),
                        ReportFigure("#", ["stories", name, "disagreements"], count.disagreeing),
                    ], isFault: count.disagreeing > 0)
            })
    }

    /// What happened by place and code, what differs first.
    private var codes: LoadReport.Table {
        let rows = tally.rows.filter { $0.expected != $0.seen } + tally.rows.filter { $0.expected == $0.seen }
        return .init(
            "What happened, and what had to", head: ["expected", "seen"],
            rows.map { row in
                let key = ["counts", row.stage.rawValue, row.code]
                return .init(
                    "\(row.stage.rawValue): \(row.code)",
                    [
                        ReportFigure("#", key + ["expected"], row.expected),
                        ReportFigure("#", key + ["seen"], row.seen),
                    ], isFault: row.expected != row.seen)
            })
    }

    private var latencies: [(step: CrowdStep, histogram: LatencyHistogram)] {
        CrowdStep.allCases.compactMap { step in figures.latencies[step].map { (step, $0) } }
    }

    private static func memory(_ series: MemoryWatch.Series) -> [ReportFigure?] {
        let bytes = series.summary
        return [
            ("# at the start", "start", bytes?.start), ("# in the middle", "middle", bytes?.middle),
            ("# at the end", "end", bytes?.end), ("at most #", "most", bytes?.most),
        ].map { ReportFigure($0, ["times", "residentBytes", series.name, $1], $2.map { Double($0) }, .bytes) }
    }

    private func addPlots(to report: inout LoadReport) {
        let turnSeconds = figures.turnSeconds
        func perSecond(_ counts: [Int]) -> [Double?] { counts.dropLast().map { Double($0) / turnSeconds } }
        report.add(
            [
                ("devices that arrive", perSecond(figures.arrivals)),
                ("answers to plays", perSecond(figures.turns.map { Int($0.count) })),
            ], turnSeconds: turnSeconds, title: "Per second")
        report.add(latencies: figures.turns.dropLast(), turnSeconds: turnSeconds)
        for (step, histogram) in latencies {
            report.add(latency: histogram, of: "call", title: "How long a call takes: \(step.rawValue)")
        }
        report.add(
            memory.map { ($0.name, $0.bytes.map { $0.map { $0 / 1_048_576 } }) }, turnSeconds: 1,
            title: "Resident memory"
        ) { Figure.axis($0) + " MiB" }
    }
}
