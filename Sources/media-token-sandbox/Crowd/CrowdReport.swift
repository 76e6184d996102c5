internal import Basics
internal import CommandShell
internal import LoadTest
internal import Sandbox

/// What became of a crowd: as text, as JSON and as a page. It contains no token and no session GUID.
struct CrowdReport {
    let plan: CrowdPlan
    let figures: CrowdFigures
    let memory: [MemoryWatch.Series]
    /// Whether the run ended before the last device was done.
    let wasInterrupted: Bool
    private let facts = RunFacts(target: nil)

    init(_ plan: CrowdPlan, _ figures: CrowdFigures, _ memory: [MemoryWatch.Series], wasInterrupted: Bool) {
        (self.plan, self.figures, self.memory, self.wasInterrupted) = (plan, figures, memory, wasInterrupted)
    }

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

    private var alarm: String? {
        tally.acceptedTooOften > 0 ? "\(Figure.count(tally.acceptedTooOften, "token")) accepted too often" : nil
    }

    private var examples: [String] {
        tally.examples.map {
            "device \($0.device), \($0.story.name): expected \($0.expected.text); seen \($0.seen.text)"
        }
    }

    private var latencies: [(step: CrowdStep, histogram: LatencyHistogram)] {
        CrowdStep.allCases.compactMap { step in figures.latencies[step].map { (step, $0) } }
    }

    // MARK: Text

    var lines: [String] {
        let rate = figures.seconds > 0 ? Double(tally.plays) / figures.seconds : 0
        let width = (tally.rows.map(\.code.count).max() ?? 0) + 2
        let table = tally.rows.map { row in
            let cells = Self.right(Figure.count(row.expected), 12) + Self.right(Figure.count(row.seen), 12)
            let line = Self.left(row.place.rawValue, 10) + Self.left(row.code, width) + cells
            return row.expected == row.seen ? line : Style.bad(line)
        }
        return [
            setting, "",
            "plays started   \(Style.strong(Figure.count(tally.plays))) in \(Figure.decimal(figures.seconds, places: 1)) s, "
                + "\(Figure.count(rate)) per second", "",
            Self.left("", width + 10) + Self.right("expected", 12) + Self.right("seen", 12),
        ] + table + [""]
            + latencies.map { Self.left($0.step.rawValue, 16) + LatencySummary($0.histogram).line }
            + memory.map { Self.left("memory", 16) + $0.name + " " + Self.text($0) } + ["", verdict]
            + (alarm.map { [Style.bad($0)] } ?? ["no token was accepted more often than it may be"]) + examples
    }

    private static func text(_ series: MemoryWatch.Series) -> String {
        guard let bytes = series.summary else { return "unknown" }
        let (start, middle) = (Figure.mebibytes(bytes.start), Figure.mebibytes(bytes.middle))
        return "\(start) at the start, \(middle) in the middle, \(Figure.mebibytes(bytes.end)) at the end, "
            + "at most \(Figure.mebibytes(bytes.most))"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    // MARK: JSON

    /// The report. If all happens as expected, only `times` and `run` differ between two runs with one seed.
    var json: JSONValue {
        let places = CrowdEvent.Place.allCases.map { place in
            (place.rawValue, object(tally.rows.filter { $0.place == place }.map { ($0.code, comparison($0)) }))
        }
        let stories = tally.stories.map { name, count in
            (name, numbers([("parties", count.parties), ("disagreements", count.disagreeing)]))
        }
        return [
            "devices": number(plan.devices), "seconds": .number(plan.seconds), "curve": .text(plan.curve.rawValue),
            "seed": .text("\(plan.seed)"), "isComplete": .boolean(!wasInterrupted),
            "isAsExpected": .boolean(tally.isAsExpected), "devicesDone": number(tally.devices),
            "playsStarted": number(tally.plays), "acceptedTooOften": number(tally.acceptedTooOften),
            "disagreements": number(tally.disagreeing), "examples": .list(examples.map { .text($0) }),
            "stories": object(stories), "counts": object(places), "times": times,
            "run": object(facts.object.map { ($0, .text($1)) }),
        ]
    }

    private var times: JSONValue {
        let memory = memory.map { series in
            (
                series.name,
                series.summary.map {
                    numbers([("start", $0.start), ("middle", $0.middle), ("end", $0.end), ("most", $0.most)])
                } ?? .null
            )
        }
        let latencies = latencies.map { step, histogram in
            (step.rawValue, numbers(LatencySummary(histogram).object.map { ($0, Int($1)) }))
        }
        return [
            "seconds": .number(figures.seconds), "latencyNanoseconds": object(latencies),
            "residentBytes": object(memory),
        ]
    }

    private func comparison(_ row: CrowdTally.Row) -> JSONValue {
        numbers([("expected", row.expected), ("seen", row.seen)])
    }

    private func numbers(_ members: [(String, Int)]) -> JSONValue { object(members.map { ($0, number($1)) }) }

    private func number(_ number: Int) -> JSONValue { .number(Double(number)) }

    private func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(Dictionary(members.map { (JSONName($0), $1) }) { $1 })
    }

    // MARK: Page

    var page: String {
        var page = ReportPage(title: "Crowd", setting: setting)
        page.add(facts: [
            ("plays started", Figure.count(tally.plays)), ("stories that disagree", Figure.count(tally.disagreeing)),
            ("tokens accepted too often", Figure.count(tally.acceptedTooOften)),
            ("seconds", Figure.decimal(figures.seconds, places: 1)),
        ])
        page.add(notice: verdict)
        for notice in (alarm.map { [$0] } ?? []) + examples { page.add(notice: notice) }
        page.add(
            table: tally.rows.map {
                ["\($0.place.rawValue): \($0.code)", Figure.count($0.expected), Figure.count($0.seen)]
            },
            head: ["", "expected", "seen"], heading: "What happened, and what had to", style: "figures")
        let turnSeconds = figures.turnSeconds
        func perSecond(_ counts: [Int]) -> [Double?] { counts.dropLast().map { Double($0) / turnSeconds } }
        let series: [LinePlot.Series] = [
            ("devices that arrive", perSecond(figures.arrivals)),
            ("answers to plays", perSecond(figures.turns.map { Int($0.count) })),
        ]
        page.add(LinePlot(series: series, turnSeconds: turnSeconds) { Figure.axis($0) }, title: "Per second")
        page.add(latencies: figures.turns.dropLast(), turnSeconds: turnSeconds)
        for (step, histogram) in latencies {
            page.add(latency: histogram, of: "call", title: "How long a call takes: \(step.rawValue)")
        }
        page.add(
            LinePlot(
                series: memory.map { ($0.name, $0.bytes.map { $0.map { $0 / 1_048_576 } }) }, turnSeconds: 1
            ) { Figure.axis($0) + " MiB" },
            title: "Resident memory")
        facts.add(to: &page)
        return page.html
    }
}
