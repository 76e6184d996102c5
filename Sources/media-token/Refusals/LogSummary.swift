internal import Basics
internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import MediaTokenGate

/// The refusals of a gate's log, counted line by line. A refusal that a gate only reported counts like one in earnest.
struct LogSummary {
    /// How many requests there were of a kind, and how many of them were refused.
    private struct Tally {
        var requests = 0
        var refused = 0

        mutating func count(isRefused: Bool) {
            requests += 1
            if isRefused { refused += 1 }
        }
    }

    /// How many requests there were by a name that others may choose, so that new names have an end.
    private struct NamedTallies {
        private static let mostNames = 1000

        private(set) var tallies: [String: Tally] = [:]

        /// Counts a request.
        ///
        /// - Returns: the name under which it is counted.
        mutating func count(_ name: String?, isRefused: Bool) -> String? {
            guard let name else { return nil }
            let isKnown = tallies[name] != nil || tallies.count < Self.mostNames
            let counted = isKnown ? name : "others"
            tallies[counted, default: Tally()].count(isRefused: isRefused)
            return counted
        }
    }

    /// The refusals with one cause.
    private struct CauseTally {
        var refused = 0
        /// The seconds after which their tokens were refused; `nil` if none is known.
        var delay: ClosedRange<Int>?
    }

    private var (all, reported) = (Tally(), 0)
    private var codes: [String: Int] = [:]
    private var (requestors, mvpds, apps) = (NamedTallies(), NamedTallies(), NamedTallies())
    private var hours: [String: Tally] = [:]
    private var causes: [RefusalCause: CauseTally] = [:]
    private var firstUses = FirstUses()
    /// How many requests grants and open routes allowed.
    private var withoutToken = 0
    /// How many lines the gate itself says it has lost.
    private var lostLines = 0
    /// How many lines are not of a gate.
    private(set) var otherLines = 0

    /// How many lines are answers of a gate.
    var gateLines: Int { all.requests + withoutToken }
    var refused: Int { all.refused }

    /// Counts a line of the log.
    mutating func add(_ line: ArraySlice<UInt8>) {
        guard !line.isEmpty else { return }
        guard let object = try? StrictJSON.readObject(line) else { return otherLines += 1 }
        if let lost = object.number("dropped"), lost > 0 { return lostLines += min(lost, 1_000_000_000) }
        guard var entry = LogEntry(object) else { return otherLines += 1 }
        guard entry.refusal != nil || entry.code == VerdictCode.validToken.rawValue else { return withoutToken += 1 }
        let isRefused = entry.refusal != nil
        all.count(isRefused: isRefused)
        entry.requestor = requestors.count(entry.requestor, isRefused: isRefused)
        entry.mvpd = mvpds.count(entry.mvpd, isRefused: isRefused)
        entry.app = apps.count(entry.app, isRefused: isRefused)
        if let hour = entry.hour { hours[hour, default: Tally()].count(isRefused: isRefused) }
        let earlier = entry.isUse ? firstUses.note(entry) : firstUses.seconds(until: entry)
        guard let code = entry.refusal else { return }
        codes[code, default: 0] += 1
        if entry.isReported { reported += 1 }
        let cause = RefusalCause(of: code, entry, secondsSinceFirstUse: earlier)
        causes[cause, default: CauseTally()].refused += 1
        if let seconds = cause.isOfRepeatedUse ? earlier : entry.age {
            let known = causes[cause]?.delay ?? seconds...seconds
            causes[cause]?.delay = min(known.lowerBound, seconds)...max(known.upperBound, seconds)
        }
    }

    /// The summary, for a terminal, as JSON and as a page.
    var report: LoadReport {
        let setting =
            "\(Figure.count(all.requests, "decision")) on tokens, \(Figure.count(all.refused, "refusal")) (\(share(all.refused, of: all))), "
            + "of which the gate only reported \(Figure.count(reported))"
        var report = LoadReport(summary: "Refusals", setting: setting)
        report.add(member: "requests", all.requests)
        report.add(member: "refused", all.refused)
        report.add(member: "reportOnly", reported)
        report.add(member: "withoutToken", withoutToken)
        report.add(member: "otherLines", otherLines)
        report.add(member: "lostLines", lostLines)
        if lostLines > 0 {
            report.add(
                notice: "the gate lost \(Figure.count(lostLines, "line")) of its log: the shares may differ", .doubt)
        }
        if otherLines > 0 {
            report.add(
                notice: "skipped \(Figure.count(otherLines, "line")) that are not answers of a gate", .doubt)
        }
        let found = causes.map { ($0, $1, text: $0.sentence(after: $1.delay), advice: $0.advice(after: $1.delay)) }
            .sorted { ($0.1.refused, $1.text) > ($1.1.refused, $0.text) }
        for (_, tally, text, advice) in found.prefix(Self.mostRows) {
            report.add(
                "\(Figure.count(tally.refused)) (\(share(tally.refused, of: all)))",
                words: "\(text). \(advice)")
        }
        report.add(
            member: "causes",
            JSONValue.list(
                found.prefix(Self.mostRows).map { cause, tally, text, advice in
                    JSONValue([
                        "cause": cause.name, "code": cause.code, "app": cause.app, "mvpd": cause.mvpd,
                        "refused": tally.refused, "share": ratio(tally.refused, of: all),
                        "text": text, "advice": advice,
                    ])
                }))
        if refused > 0 {
            report.add(table("By code", ["code"], codes.mapValues { Tally(requests: all.requests, refused: $0) }))
        }
        for (name, named) in [("requestor", requestors), ("MVPD", mvpds), ("app", apps)] where !named.tallies.isEmpty {
            report.add(table("By \(name)", [name.lowercased()], named.tallies))
        }
        report.add(table("By hour", ["hour"], hours, inOrder: true))
        return report
    }

    /// The most rows of a table; an app chooses its own name.
    private static let mostRows = 50

    private func table(
        _ heading: String, _ key: [String], _ tallies: [String: Tally], inOrder: Bool = false
    ) -> LoadReport.Table {
        let sorted = tallies.sorted {
            inOrder ? $0.key < $1.key : ($0.value.refused, $1.key) > ($1.value.refused, $0.key)
        }
        let rows = (inOrder ? sorted.suffix(Self.mostRows * 4) : sorted.prefix(Self.mostRows)).map { name, tally in
            LoadReport.Table.Row(
                printable(name),
                [
                    ReportFigure("#", key + [name, "requests"], tally.requests),
                    ReportFigure("#", key + [name, "refused"], tally.refused),
                    ReportFigure("#", key + [name, "share"], ratio(tally.refused, of: tally), .part),
                ])
        }
        return LoadReport.Table(heading, head: ["requests", "refused", "share"], rows)
    }

    private func ratio(_ part: Int, of tally: Tally) -> Double { Double(part) / Double(max(1, tally.requests)) }

    private func share(_ part: Int, of tally: Tally) -> String {
        Figure.decimal(ratio(part, of: tally) * 100, places: 1) + " %"
    }
}

/// One line of a gate's log.
struct LogEntry {
    let code: String
    /// The code by which the request was refused, or would have been; `nil` if it was allowed.
    let refusal: String?
    /// Whether the gate only reported the refusal, and allowed the request.
    let isReported: Bool
    var (requestor, mvpd, app): (String?, String?, String?)
    /// The short ID of the token.
    let token: UInt64?
    /// The seconds from the token's issue time to the answer.
    let age: Int?
    /// The hour of the answer, and its time.
    let hour: String?
    let time: Timestamp?
    /// Whether the token was used, by this request or by an earlier one.
    var isUse: Bool { refusal == nil || refusal == VerdictCode.tokenAlreadyUsed.rawValue }

    /// Reads a line; `nil` if it is not one of a gate.
    init?(_ object: JSONObject) {
        func text(_ name: String) -> String? { (try? object.text(name)) ?? nil }
        guard let code = text("code") else { return nil }
        let wouldBe = text("would_be")
        (self.code, isReported) = (code, wouldBe != nil)
        refusal = wouldBe ?? (text("action") == nil ? nil : code)
        (requestor, mvpd, app, token) = (
            text("requestor"), text("mvpd"), text("app"), text("token").flatMap { UInt64($0, radix: 16) }
        )
        age = object.number("age")
        time = text("time").flatMap { if case .at(let time)? = CheckTime(reading: $0) { time } else { nil } }
        hour = time.map { $0.internetText.prefix(13).replacing("T", with: " ") + ":00" }
    }
}

extension JSONObject {
    /// A whole number; `nil` if the member is none.
    fileprivate func number(_ name: String) -> Int? {
        if case .number(let number)? = members[JSONName(name)] { Int(exactly: number) } else { nil }
    }
}

/// When tokens were first used, for the latest few million of them.
private struct FirstUses {
    private static let mostTokens = 2_000_000

    private var (latest, earlier): ([UInt64: Timestamp], [UInt64: Timestamp]) = ([:], [:])

    /// Notes the use of a token.
    ///
    /// - Returns: The seconds since the token was first used; `nil` if this is its first use.
    mutating func note(_ entry: LogEntry) -> Int? {
        guard let token = entry.token, let time = entry.time else { return nil }
        let seconds = seconds(until: entry)
        if latest.count >= Self.mostTokens { (earlier, latest) = (latest, [:]) }
        // A log that is read later may have the earlier use.
        latest[token] = min(latest[token] ?? earlier[token] ?? time, time)
        return seconds
    }

    /// The seconds from the first use of a line's token to the line; `nil` if no use of it is known.
    func seconds(until entry: LogEntry) -> Int? {
        guard let token = entry.token, let time = entry.time else { return nil }
        return (latest[token] ?? earlier[token]).map { max(0, Int(time.milliseconds(since: $0) / 1000)) }
    }
}
