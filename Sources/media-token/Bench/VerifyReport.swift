internal import Basics
internal import CommandShell
internal import LoadTest
internal import MediaToken

/// The results of `bench verify`.
struct VerifyReport: BenchReport {
    static let mainFigure = "verificationsPerSecond"

    let title = "Verification"
    let target: String? = nil
    private let measured: VerifyFigures
    private let group: Int
    private let tokens: Int
    private let tokenSize: Int
    private let keys: KeyRing
    private let store: String
    private let contents: ReplayStoreContents

    init(
        _ figures: VerifyFigures, of invocation: BenchVerifyCommand.Invocation, corpus: TokenCorpus, keys: KeyRing,
        contents: ReplayStoreContents
    ) {
        (measured, self.keys, self.contents) = (figures, keys, contents)
        (group, tokens, tokenSize) = (invocation.load.group, corpus.items.count, corpus.averageSize)
        store = invocation.replays.kind
    }

    private var bits: String { Set(keys.keys.map(\.bits)).sorted().map { "RSA-\($0)" }.joined(separator: ", ") }

    /// The bytes per live token; `nil` if the store does not know its size or has fewer than 1000 live tokens.
    private var bytesPerLiveToken: Double? {
        contents.bytes.flatMap { contents.entries < 1000 ? nil : Double($0) / Double(contents.entries) }
    }

    var setting: String {
        let threads = Figure.count(measured.threads, "thread")
        let keys = keys.keys.count == 1 ? bits : "\(bits), \(keys.keys.count) keys"
        return "\(threads), groups of \(group), \(keys), \(Figure.count(tokens)) tokens of "
            + "\(Figure.count(tokenSize)) bytes, replay store \(store)"
    }

    /// What verifies the signatures of the report's groups.
    private var engine: String {
        group == 1 ? "one RSA signature after the other, by libcrypto (groups of one)" : SignatureEngine.description
    }

    var lines: [String] {
        let rate = "\(Figure.count(measured.verificationsPerSecond)) a second"
        var lines = [setting, "verifications   \(Style.strong(rate)), \(Figure.count(measured.verifications)) in all"]
        if let bare = measured.bareSignaturesPerSecond, let ratio = measured.ratio {
            lines.append(
                "libcrypto       \(Figure.count(bare)) bare RSA verifications a second, same threads and key")
            lines.append("ratio           \(Style.strong(Figure.decimal(ratio, places: 3))) times as many tokens")
        }
        lines.append("engine          " + engine)
        lines.append("latency         " + LatencySummary(measured.latency).line)
        lines.append(
            "stages          " + stages.map { "\($0) \(Figure.time(nanoseconds: $1))" }.joined(separator: "  "))
        lines.append("codes           " + codes.map { "\($0) \(Figure.count($1))" }.joined(separator: "  "))
        let each = bytesPerLiveToken.map { ", \(Figure.decimal($0, places: 1)) bytes each" } ?? ""
        lines.append("live tokens     \(Figure.count(contents.entries))\(each)")
        let growth = measured.after.resident - measured.before.resident
        lines.append(
            "resident        \(Figure.mebibytes(measured.after.resident)), grown by \(Figure.mebibytes(growth))")
        return lines
    }

    private var stages: [(String, Double)] { measured.stages.map { ($0.stage.rawValue, $0.nanoseconds) } }

    private var codes: [(String, Int)] {
        measured.codes.sorted { $0.key.number < $1.key.number }.map { ($0.key.rawValue, $0.value) }
    }

    var object: Object { Object(self) }

    struct Object: Encodable {
        struct Memory: Encodable {
            let residentBytes: Int
            let residentGrowthBytes: Int
            let anonymousGrowthBytes: Int
        }

        let threads: Int
        let group: Int
        let keyBits: [Int]
        let tokens: Int
        let tokenBytes: Int
        let replays: String
        let engine: String
        let verifications: Int
        let verificationsPerSecond: Double
        let bareSignaturesPerSecond: Double?
        let ratio: Double?
        let latencyNanoseconds: [String: UInt64]
        let stageNanoseconds: [String: Double]
        let codes: [String: Int]
        let liveTokens: Int
        let storeBytes: Int?
        let memory: Memory

        fileprivate init(_ report: VerifyReport) {
            let figures = report.measured
            (threads, group, tokens, tokenBytes) = (figures.threads, report.group, report.tokens, report.tokenSize)
            keyBits = report.keys.keys.map(\.bits)
            (replays, engine) = (report.store, report.group == 1 ? "libcrypto" : SignatureEngine.name)
            (verifications, verificationsPerSecond) = (figures.verifications, figures.verificationsPerSecond)
            (bareSignaturesPerSecond, ratio) = (figures.bareSignaturesPerSecond, figures.ratio)
            latencyNanoseconds = LatencySummary(figures.latency).object
            stageNanoseconds = Dictionary(uniqueKeysWithValues: report.stages)
            codes = Dictionary(uniqueKeysWithValues: report.codes)
            (liveTokens, storeBytes) = (report.contents.entries, report.contents.bytes)
            memory = Memory(
                residentBytes: figures.after.resident,
                residentGrowthBytes: figures.after.resident - figures.before.resident,
                anonymousGrowthBytes: figures.after.anonymous - figures.before.anonymous)
        }
    }

    var conditions: [(name: String, value: String?)] {
        [("threads", Figure.count(measured.threads)), ("group", Figure.count(group)), ("replays", printable(store))]
    }

    var figures: [ReportFigure] {
        func rate(_ name: String, _ key: String, _ value: Double?, places: Int = 0) -> [ReportFigure] {
            value.map { value in
                [
                    ReportFigure(name: name, key: [key], value: value) {
                        places == 0 ? Figure.count($0) : Figure.decimal($0, places: places)
                    }
                ]
            } ?? []
        }
        return rate("verifications a second", Self.mainFigure, measured.verificationsPerSecond)
            + rate("bare RSA operations a second", "bareSignaturesPerSecond", measured.bareSignaturesPerSecond)
            + rate("ratio of the two", "ratio", measured.ratio, places: 3) + LatencySummary(measured.latency).figures
            + [
                ReportFigure(
                    name: "resident", key: ["memory", "residentBytes"], value: Double(measured.after.resident)
                ) { Figure.mebibytes(Int($0)) }
            ]
    }

    var results: [(name: String, value: String)] {
        [
            ("engine", group == 1 ? "libcrypto" : SignatureEngine.name),
            ("live tokens", Figure.count(contents.entries)),
            ("bytes a live token", bytesPerLiveToken.map { Figure.decimal($0, places: 1) } ?? "–"),
        ] + codes.map { ($0, Figure.count($1)) }
    }

    func addPlots(to page: inout ReportPage) {
        page.add(
            latency: measured.latency, of: group == 1 ? "verification" : "call",
            title: "How long \(group == 1 ? "a verification" : "a call for \(group) tokens") takes")
        let turnSeconds = measured.seconds / Double(max(1, measured.turns.count))
        var series: [LinePlot.Series] = [("verifications a second", measured.turns.map(\.verificationsPerSecond))]
        if measured.bareSignaturesPerSecond != nil {
            series.append(("bare RSA operations a second", measured.turns.map(\.bareSignaturesPerSecond)))
        }
        page.add(LinePlot(series: series, turnSeconds: turnSeconds) { Figure.axis($0) }, title: "Rates over time")
        page.add(latencies: measured.turns.map(\.latency), turnSeconds: turnSeconds)
        page.add(parts: stages, title: "Where the time of one token goes")
    }
}
