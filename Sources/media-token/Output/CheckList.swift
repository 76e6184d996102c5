internal import Basics
internal import CommandShell
internal import MediaToken

/// Prints an examination for people: the code, then each check with the values that it compared.
enum CheckList {
    static func print(_ examination: Examination, code: String, showsFields: Bool) {
        let unusable = examination.unusableInWords
        let isGood = examination.firstFailure == nil && unusable == nil
        let note = unusable.map { (examination.key == nil ? "; " : ", but ") + $0 } ?? ""
        Console.print(Style.strong((isGood ? Style.good : Style.bad)(code + note)))
        if let id = examination.id { Console.print("    \(pad("token", 9))  \(id)") }
        for report in examination.reports {
            let isNote = report.outcome == .notAsked && report.check == .window && examination.expires != nil
            guard isNote || ![.notAsked, .unread].contains(report.outcome) else { continue }
            printLine(
                report.outcome.isPassed, report.check.rawValue,
                report.detail + (isNote ? "; give --at to check it" : ""))
            if report.check == .window { printDates(examination, isNote ? "now" : "checked") }
            if let advice = report.advice { printAdvice(advice) }
        }
        printNotMade(examination)
        if showsFields { printFields(examination) }
    }

    /// Prints the token's dates and the time of the check in UTC and at this machine's offset, unless a line before has
    /// them at that offset.
    ///
    /// - Parameter time: what the time of the check is called.
    private static func printDates(_ examination: Examination, _ time: String) {
        guard let expires = examination.expires else { return }
        var offsets = [expires.offset]
        let local = LocalTime.offset(at: expires.timestamp)
        for (place, offset) in [("in UTC", 0), ("here", local)] where !offsets.contains(offset) {
            offsets.append(offset)
            func shown(_ time: Timestamp) -> String {
                TokenDate(time, offset: place == "here" ? LocalTime.offset(at: time) : 0).description
            }
            let issued = examination.issueTime.map { "issued \(shown($0.timestamp)), " } ?? ""
            Console.print(
                "    \(pad("", 9))  \(place): \(issued)expires \(shown(expires.timestamp)), \(time) \(shown(examination.time))",
                hanging: 15)
        }
    }

    /// One line for all checks that nobody asked for, with the options that ask, and one for those of an unreadable
    /// token.
    private static func printNotMade(_ examination: Examination) {
        func names(_ outcome: CheckReport.Outcome) -> [String] {
            examination.reports.filter { report in
                report.outcome == outcome && report.check.isAnswered(by: examination.kind)
                    && (report.check != .window || examination.expires == nil)
            }.map(\.check.rawValue)
        }
        let (unasked, unread) = (names(.notAsked), names(.unread))
        if !unread.isEmpty {
            Console.print(
                "  \(Style.faint("–")) not checked, as the token could not be read: \(unread.joined(separator: ", "))",
                hanging: 4)
        }
        if !unasked.isEmpty {
            let options = unasked.map { $0 == Check.window.rawValue ? "--at" : "--\($0)" }
            Console.print(
                "  \(Style.faint("–")) not asked for: \(unasked.joined(separator: ", ")) (give \(options.joined(separator: ", ")))",
                hanging: 4)
        }
    }

    private static func printFields(_ examination: Examination) {
        guard let kind = examination.kind else { return }
        printFields(examination.fields.map { ($0.name, $0.text) }, under: kind.title)
    }

    static func printFields(_ fields: [(name: String, text: String)], under title: String) {
        Console.print("  \(title):")
        let width = fields.map(\.name.count).max() ?? 0
        for field in fields {
            let text = printable(field.text, limit: 2000)
            Console.print("    \(pad(printable(field.name), width))  \(text)", hanging: width + 6)
        }
    }

    /// Prints what to do about the check before.
    static func printAdvice(_ advice: String) { Console.print("    \(pad("", 9))  → \(advice)", hanging: 17) }

    /// - Parameter isPassed: whether the check passed; `nil` if it was not run.
    static func printLine(_ isPassed: Bool?, _ name: String, _ detail: String) {
        let mark = isPassed.map { $0 ? Style.good("✓") : Style.bad("✗") } ?? Style.faint("–")
        Console.print("  \(mark) \(pad(name, 9))  \(detail)", hanging: 15)
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension Examination {
    /// Why the token opens nothing at the time of the check, although no check failed: nobody asked about that time.
    fileprivate var unusableInWords: String? {
        guard firstFailure == nil, reports.contains(where: { $0.check == .window && $0.outcome == .notAsked }) else {
            return nil
        }
        if let issued = issueTime?.timestamp, time < issued { return issued.futureIssueInWords(at: time) }
        return expires.flatMap { time > $0.timestamp ? $0.timestamp.expiryInWords(at: time) : nil }
    }
}

extension CheckReport.Outcome {
    fileprivate var isPassed: Bool? {
        switch self {
        case .passed: true
        case .failed: false
        case .notAsked, .unread, .notChecked: nil
        }
    }
}

extension Check {
    /// Whether a token of this kind, or of any if it is unknown, has what the check compares.
    fileprivate func isAnswered(by kind: TokenKind?) -> Bool {
        switch self {
        case .device: kind != .media
        case .resource: kind != .authentication
        default: true
        }
    }
}
