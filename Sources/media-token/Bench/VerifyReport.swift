internal import LoadTest
internal import MediaToken

/// The results of `bench verify`.
struct VerifyReport: BenchReport {
    private let figures: VerifyFigures
    private let group: Int
    private let tokens: Int
    private let tokenSize: Int
    private let keys: KeyRing
    private let store: String
    private let status: ReplayStoreStatus

    init(
        _ figures: VerifyFigures, of invocation: BenchVerifyCommand.Invocation, corpus: TokenCorpus, keys: KeyRing,
        status: ReplayStoreStatus
    ) {
        (self.figures, self.keys, self.status) = (figures, keys, status)
        (group, tokens, tokenSize) = (invocation.load.group, corpus.items.count, corpus.averageSize)
        store = invocation.replays.kind
    }

    private var bits: String { Set(keys.keys.map(\.bits)).sorted().map { "RSA-\($0)" }.joined(separator: ", ") }

    /// The bytes per live token; `nil` if the store does not know its size or has fewer than 1000 live tokens.
    private var bytesPerLiveToken: Double? {
        status.bytes.flatMap { status.entries < 1000 ? nil : Double($0) / Double(status.entries) }
    }

    private var setting: String {
        let threads = figures.threads == 1 ? "1 thread" : "\(figures.threads) threads"
        let keys = keys.keys.count == 1 ? bits : "\(bits), \(keys.keys.count) keys"
        return "\(threads), groups of \(group), \(keys), \(Figure.count(tokens)) tokens of "
            + "\(Figure.count(tokenSize)) bytes, replay store \(store)"
    }

    /// What verifies the signatures of the report's groups.
    private var engine: String {
        group == 1 ? "one RSA signature after the other, by libcrypto (groups of one)" : SignatureEngine.description
    }

    var lines: [String] {
        let rate = "\(Figure.count(figures.verificationsPerSecond)) a second"
        var lines = [setting, "verifications   \(Style.strong(rate)), \(Figure.count(figures.verifications)) in all"]
        if let bare = figures.bareSignaturesPerSecond, let ratio = figures.ratio {
            lines.append(
                "libcrypto       \(Figure.count(bare)) bare RSA verifications a second, same threads and key")
            lines.append("ratio           \(Style.strong(Figure.decimal(ratio, places: 3))) times as many tokens")
        }
        lines.append("engine          " + engine)
        lines.append("latency         " + LatencySummary(figures.latency).line)
        lines.append(
            "stages          " + stages.map { "\($0) \(Figure.time(nanoseconds: $1))" }.joined(separator: "  "))
        lines.append("statuses        " + statuses.map { "\($0) \(Figure.count($1))" }.joined(separator: "  "))
        let each = bytesPerLiveToken.map { ", \(Figure.decimal($0, places: 1)) bytes each" } ?? ""
        lines.append("live tokens     \(Figure.count(status.entries))\(each)")
        let growth = figures.after.resident - figures.before.resident
        lines.append(
            "resident        \(Figure.mebibytes(figures.after.resident)), grown by \(Figure.mebibytes(growth))")
        return lines
    }

    private var stages: [(String, Double)] { figures.stages.map { ($0.stage.rawValue, $0.nanoseconds) } }

    private var statuses: [(String, Int)] {
        figures.statuses.sorted { $0.key.number < $1.key.number }.map { ($0.key.rawValue, $0.value) }
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
        let statuses: [String: Int]
        let liveTokens: Int
        let storeBytes: Int?
        let memory: Memory

        fileprivate init(_ report: VerifyReport) {
            let figures = report.figures
            (threads, group, tokens, tokenBytes) = (figures.threads, report.group, report.tokens, report.tokenSize)
            keyBits = report.keys.keys.map(\.bits)
            (replays, engine) = (report.store, report.group == 1 ? "libcrypto" : SignatureEngine.name)
            (verifications, verificationsPerSecond) = (figures.verifications, figures.verificationsPerSecond)
            (bareSignaturesPerSecond, ratio) = (figures.bareSignaturesPerSecond, figures.ratio)
            latencyNanoseconds = LatencySummary(figures.latency).object
            stageNanoseconds = Dictionary(uniqueKeysWithValues: report.stages)
            statuses = Dictionary(uniqueKeysWithValues: report.statuses)
            (liveTokens, storeBytes) = (report.status.entries, report.status.bytes)
            memory = Memory(
                residentBytes: figures.after.resident,
                residentGrowthBytes: figures.after.resident - figures.before.resident,
                anonymousGrowthBytes: figures.after.anonymous - figures.before.anonymous)
        }
    }

    var page: ReportPage {
        var page = ReportPage(title: "Verification", setting: setting)
        page.add(
            facts: [
                ("verifications a second", Figure.count(figures.verificationsPerSecond)),
                ("bare RSA operations a second", figures.bareSignaturesPerSecond.map { Figure.count($0) } ?? "–"),
                ("engine", group == 1 ? "libcrypto" : SignatureEngine.name),
                ("ratio of the two", figures.ratio.map { Figure.decimal($0, places: 3) } ?? "–"),
                ("live tokens", Figure.count(status.entries)),
                ("bytes a live token", bytesPerLiveToken.map { Figure.decimal($0, places: 1) } ?? "–"),
                ("resident", Figure.mebibytes(figures.after.resident)),
            ] + statuses.map { ($0, Figure.count($1)) })
        page.add(latency: figures.latency, of: group == 1 ? "a verification" : "a call for \(group) tokens")
        page.add(
            timeLine: [
                ("verifications", figures.turns.map(\.verificationsPerSecond)),
                ("bare RSA operations", figures.turns.map(\.bareSignaturesPerSecond)),
            ], unit: "a second", seconds: figures.seconds)
        page.add(parts: stages, title: "Where the time of one token goes")
        return page
    }
}
