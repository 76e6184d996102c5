internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants

/// Shows the findings of a capture, for people or as JSON, as they come.
struct FindingsOutput {
    private let output: OutputOptions
    /// The number of the only row whose findings are shown in full; `nil` to show them all.
    private let only: Int?
    private let showsClear: Bool
    private let write: (String) -> Void
    /// Takes what is to be said of the capture as a whole.
    let remark: (String) -> Void
    private var counts: [(title: String, count: Int)] = []
    private var failures = 0
    /// The first finding, with the time of its line, which is shown once it is known whether there are others.
    private var first: (finding: ExaminedFinding, time: Timestamp?)?
    /// The lines of tokens that were found again, by their numbers.
    private var again: [Int: [String]] = [:]
    /// What was found of each token at first, by its number.
    private var codes: [Int: String] = [:]
    /// Whether the table has the heading for calls; `nil` before its first heading.
    private var heading: Bool?
    /// Whether a call of an archive was shown.
    private(set) var hasCalls = false
    private var hasShownOnly = false

    /// - Parameters:
    ///   - showsClear: whether JSON has the clear text of tokens.
    ///   - remark: takes what is to be said of the capture as a whole.
    ///   - write: takes each line that is not the list of a token's checks.
    init(
        _ output: OutputOptions, only: Int?, showsClear: Bool = false,
        remark: @escaping (String) -> Void = { Console.printError($0) },
        _ write: @escaping (String) -> Void = { Console.print($0) }
    ) {
        (self.output, self.only, self.showsClear) = (output, only, showsClear)
        (self.remark, self.write) = (remark, write)
    }

    /// Shows that nothing was found, and what the input is as a token.
    mutating func showNothing(but unrecognized: ExaminedFinding) {
        let format = unrecognized.format.map { ": \($0)" } ?? ""
        if !output.isJSON { print(Style.faint("found   nothing\(format); read as a token, the input is")) }
        show(unrecognized)
    }

    /// Whether the row that was asked for is none of the capture.
    var isMissingEntry: Bool { only != nil && !hasShownOnly }

    /// Shows a finding outside of an archive: in full if it is the only one or the one that was asked for, else a row.
    ///
    /// - Parameter time: the time of its line.
    mutating func show(_ finding: ExaminedFinding, at time: Timestamp? = nil) {
        count(finding)
        codes[finding.number] = finding.examination?.code
        guard only.map({ $0 == finding.number }) ?? true else { return }
        hasShownOnly = true
        guard !output.isJSON else { return printJSON(finding, at: time) }
        if only != nil { return printText(finding) }
        guard first != nil || heading != nil else { return first = (finding, time) }
        printFirst()
        print(CaptureRow(finding, at: time, isAmongCalls: hasCalls))
    }

    /// Shows the first finding as a row, if it waits for others.
    private mutating func printFirst() {
        guard let (finding, time) = first else { return }
        first = nil
        print(CaptureRow(finding, at: time, isAmongCalls: hasCalls))
    }

    private mutating func print(_ row: CaptureRow) {
        if heading != hasCalls { print(Style.strong(CaptureRow.heading(hasCalls: hasCalls))) }
        heading = hasCalls
        print(row.text)
        for remark in row.remarks {
            print("      \(Style.bad(remark.title))\(remark.detail.isEmpty ? "" : ": \(remark.detail)")")
            if let advice = remark.advice { print("      → \(advice)") }
        }
    }

    /// Shows that a token outside of an archive was found again.
    mutating func showAgain(_ finding: ExaminedFinding, at time: Timestamp? = nil) {
        guard only.map({ $0 == finding.number }) ?? true else { return }
        guard !output.isJSON else { return printJSON(finding, at: time) }
        let remark = finding.examination.flatMap { $0.code == codes[finding.number] ? nil : "\($0.code) there" }
        let remarks = finding.finding.repairs.map { "repaired: \($0)" } + [remark].compactMap(\.self)
        let line = "\(finding.finding.line)" + (remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))")
        again[finding.number, default: []].append(line)
    }

    /// Shows a call of an archive: a row, with the notes below it; the findings in full if it is the one that was asked
    /// for.
    mutating func show(
        _ call: CapturedCall, _ row: @autoclosure () -> CaptureRow, _ findings: [ExaminedFinding],
        _ notes: [CaptureHistory.Note]
    ) {
        hasCalls = true
        for finding in findings { count(finding) }
        guard only.map({ $0 == call.number }) ?? true else { return }
        hasShownOnly = true
        if output.isJSON {
            print(call.document(notes).line)
            for finding in findings { printJSON(finding, entry: call.number) }
            return
        }
        printFirst()
        print(row())
        if only != nil { for finding in findings { printText(finding) } }
    }

    /// Shows what is left, and the sum of several findings.
    mutating func finish() {
        if isMissingEntry, let only {
            Console.printError(
                "there is no row \(only); --only takes the number of a row: a call of Adobe Pass or with a token, or a finding"
            )
        }
        guard !output.isJSON else { return }
        let isOne = counts.reduce(0) { $0 + $1.count } == 1
        if let first { printText(first.finding) }
        first = nil
        for (number, lines) in again.sorted(by: { $0.key < $1.key }) {
            let shown = lines.prefix(Self.shownLines).joined(separator: ", ")
            let rest = lines.count > Self.shownLines ? " and \(lines.count - Self.shownLines) others" : ""
            print(
                "\(isOne ? "the same token" : "token \(number)") is also on line\(lines.count == 1 ? "" : "s") \(shown)\(rest)"
            )
        }
        guard !isOne, !counts.isEmpty else { return }
        let all = counts.map { "\($0.count) \($0.title)\($0.count == 1 ? "" : "s")" }.joined(separator: ", ")
        let seen = heading != nil && only == nil ? "; --only N shows all of row N" : ""
        print("\nfound \(all); \(failures) failed\(seen)")
    }

    private static let shownLines = 20

    private mutating func count(_ finding: ExaminedFinding) {
        failures += finding.isFailure ? 1 : 0
        let title = finding.title
        if let known = counts.firstIndex(where: { $0.title == title }) {
            counts[known].count += 1
        } else {
            counts.append((title, 1))
        }
    }

    private func print(_ line: String) {
        if output.showsChecks { write(line) }
    }

    private func printJSON(_ finding: ExaminedFinding, entry: Int? = nil, at time: Timestamp? = nil) {
        print(finding.document(in: entry, at: time, showsClear: showsClear).line)
    }

    private func printGrant(_ grant: UnverifiedGrant, at time: Timestamp) {
        guard output.showsChecks else { return }
        let begin = grant.starts.flatMap { $0 > time ? "; begins in \(Span(between: time, and: $0))" : nil } ?? ""
        let expiry = grant.expires.map { "; \($0.expiryInWords(at: time))" } ?? ""
        print(Style.strong("UNVERIFIED") + begin + expiry)
        CheckList.printFields(grant.fields, under: "\(grant.title), of which nothing is verified")
    }

    private func printText(_ finding: ExaminedFinding) {
        let isBare = finding.way.isEmpty || finding.way == ["clear"] && finding.finding.line == 1
        if only != nil || !isBare {
            let number = only != nil ? "\(finding.number)  " : ""
            let line = finding.finding.isSent == nil ? ["line \(finding.finding.line)"] : []
            if heading != nil { print("") }
            print(Style.faint("\(number)found   \((line + finding.way).joined(separator: " › "))"))
        }
        if let time = finding.finding.time, !time.hasZone, case .token(let examination, _) = finding.result,
            examination.reports.contains(where: { $0.check == .window && $0.outcome == .notAsked })
        {
            print(
                "\(Style.faint("time"))    \(printable(time.text)), without a zone; --at line checks as of it, in UTC")
        }
        for repair in finding.finding.repairs {
            print("\(Style.bad("repaired"))  \(repair); if it was sent like this, a gate refuses it")
        }
        if let cut = finding.cut {
            if let verdict = finding.verdict { print(Style.strong(Style.bad(verdict.rawValue))) }
            print("\(Style.bad("cut"))     \(cut)")
            if finding.isFailure { return print("        \(TokenEnvelope.cutAdvice)") }
        }
        switch finding.result {
        case .token(let examination, _):
            output.show(examination, verdict: finding.verdict, showsFields: finding.verdict == nil)
        case .grant(let grant, let time): printGrant(grant, at: time)
        case .error(let error):
            print(Style.strong(Style.bad(printable(error.code))))
            if let message = error.message { print("    message    \(printable(message, limit: 300))") }
            if let resource = error.resource { print("    resource   \(printable(resource))") }
            if let action = error.action { print("    action     \(printable(action))") }
            if let advice = error.advice { print("               → \(advice)") }
        }
    }
}

extension ExaminedFinding {
    /// The kind of the finding, for a sum.
    fileprivate var title: String {
        switch result {
        case .token(let examination, _):
            switch examination.kind {
            case .media: "media token"
            case .authentication: "AuthN token"
            case .authorization: "AuthZ token"
            case nil: "unreadable token"
            }
        case .grant(let grant, _): grant.title
        case .error: "error"
        }
    }
}
