internal import CommandShell
internal import LoadTest
internal import MediaToken

/// What `bench verify` has measured, and of what.
struct VerifyMeasurement {
    static let mainFigure = "verificationsPerSecond"

    let figures: VerifyFigures
    let invocation: BenchVerifyCommand.Invocation
    let corpus: TokenCorpus
    let keys: KeyRing
    let contents: ReplayStoreContents

    private var group: Int { invocation.load.group }

    /// The bytes of a live token; `nil` if the store does not know its size or has fewer than 1000 live tokens.
    private var bytesPerLiveToken: Double? {
        contents.bytes.flatMap { contents.entries < 1000 ? nil : Double($0) / Double(contents.entries) }
    }

    private var setting: String {
        let bits = Set(keys.keys.map(\.bits)).sorted().map { "RSA-\($0)" }.joined(separator: ", ")
        let keys = keys.keys.count == 1 ? bits : "\(bits), \(keys.keys.count) keys"
        return "\(Figure.count(figures.threads, "thread")), groups of \(group), \(keys), "
            + "\(Figure.count(corpus.items.count)) tokens of \(Figure.count(corpus.averageSize)) bytes, "
            + "replay store \(invocation.replays.kind)"
    }

    var report: LoadReport {
        var report = LoadReport(title: "Verification", setting: setting)
        report.add(condition: "threads", figures.threads)
        report.add(condition: "group", group)
        report.add(condition: "replays", invocation.replays.kind)
        report.add(member: "keyBits", keys.keys.map(\.bits))
        report.add(member: "tokens", corpus.items.count)
        report.add(member: "tokenBytes", corpus.averageSize)
        report.add(member: "engine", group == 1 ? "libcrypto" : SignatureEngine.name)
        addRates(to: &report)
        report.add(figures.processor)
        report.add("latency", .latency(figures.latency, "latencyNanoseconds"))
        let stages = figures.stages.map { ($0.stage.rawValue, $0.nanoseconds) }
        report.add(
            "stages",
            stages.map { ReportFigure("\($0) #", ["stageNanoseconds", $0], $1, .nanoseconds, better: .lower) })
        report.add(
            "codes",
            figures.codes.sorted { $0.key.number < $1.key.number }.map { code, count in
                ReportFigure("\(code.rawValue) #", ["codes", code.rawValue], count)
            })
        addMemory(to: &report)
        addPlots(to: &report, stages)
        return report
    }

    private func addRates(to report: inout LoadReport) {
        report.add(
            "verifications",
            [
                ReportFigure("# a second", [Self.mainFigure], figures.verificationsPerSecond, better: .higher),
                ReportFigure(
                    "# a second of a processor", ["verificationsPerProcessorSecond"],
                    figures.verificationsPerProcessorSecond, better: .higher),
                ReportFigure("# in all", ["verifications"], figures.verifications),
            ])
        report.add("turns", .spread(ofTurns: figures.turns.map(\.verificationsPerSecond)))
        report.add(
            "libcrypto",
            [
                ReportFigure(
                    "# bare RSA operations a second, same threads and key", ["bareSignaturesPerSecond"],
                    figures.bareSignaturesPerSecond, better: .higher, named: "bare RSA operations a second")
            ])
        report.add(
            "ratio",
            [
                ReportFigure(
                    "# times as many tokens", ["ratio"], figures.ratio, .decimal(3), better: .higher,
                    named: "ratio of the two")
            ])
        report.add(
            "engine",
            words: group == 1
                ? "one RSA signature after the other, by libcrypto (groups of one)" : SignatureEngine.description)
    }

    private func addMemory(to report: inout LoadReport) {
        report.add(
            "live tokens",
            [
                ReportFigure("#", ["liveTokens"], contents.entries),
                ReportFigure(
                    "# bytes each", ["bytesPerLiveToken"], bytesPerLiveToken, .decimal(1), better: .lower,
                    named: "bytes of a live token"),
                ReportFigure("# of store", ["storeBytes"], contents.bytes, .bytes),
            ])
        let (before, after) = (figures.before, figures.after)
        func memory(_ words: String, _ name: String, _ bytes: Int, better: ReportFigure.Better? = nil) -> ReportFigure?
        {
            ReportFigure(words, ["memory", name], bytes, .bytes, better: better)
        }
        report.add(
            "resident",
            [
                memory("#", "residentBytes", after.resident, better: .lower),
                memory("grown by #", "residentGrowthBytes", after.resident - before.resident),
                memory("heap and stacks by #", "anonymousGrowthBytes", after.anonymous - before.anonymous),
            ])
    }

    private func addPlots(to report: inout LoadReport, _ stages: [(String, Double)]) {
        report.add(
            latency: figures.latency, of: group == 1 ? "verification" : "call",
            title: "How long \(group == 1 ? "a verification" : "a call for \(group) tokens") takes")
        let turnSeconds = figures.seconds / Double(max(1, figures.turns.count))
        var series = [("verifications a second", figures.turns.map { Double?($0.verificationsPerSecond) })]
        if figures.bareSignaturesPerSecond != nil {
            series.append(("bare RSA operations a second", figures.turns.map(\.bareSignaturesPerSecond)))
        }
        report.add(series, turnSeconds: turnSeconds, title: "Rates over time")
        report.add(latencies: figures.turns.map(\.latency), turnSeconds: turnSeconds)
        report.add(parts: stages, title: "Where the time of one token goes")
    }
}
