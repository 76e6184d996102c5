internal import MediaToken
internal import TextEncodings

/// Prints an examination for people: the code, then each check with the values that it compared.
enum CheckList {
    static func print(_ examination: Examination, code: String, showsFields: Bool) {
        let isGood = examination.firstFailure == nil
        Console.print(Style.strong((isGood ? Style.good : Style.bad)(code)))
        if let id = examination.id { Console.print("    \(pad("token", 9))  \(id)") }
        for report in examination.reports {
            printLine(report.outcome.isPassed, report.check.rawValue, report.detail)
            if let advice = report.advice { Console.print("    \(pad("", 9))  → \(advice)") }
        }
        if showsFields { printFields(examination) }
    }

    private static func printFields(_ examination: Examination) {
        guard let kind = examination.kind else { return }
        Console.print("  \(kind.title):")
        let width = examination.fields.map(\.name.count).max() ?? 0
        for field in examination.fields {
            Console.print("    \(pad(printable(field.name), width))  \(printable(field.text, limit: 2000))")
        }
    }

    /// - Parameter isPassed: whether the check passed; `nil` if it was not run.
    static func printLine(_ isPassed: Bool?, _ name: String, _ detail: String) {
        let mark = isPassed.map { $0 ? Style.good("✓") : Style.bad("✗") } ?? Style.faint("–")
        Console.print("  \(mark) \(pad(name, 9))  \(detail)")
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension CheckReport.Outcome {
    fileprivate var isPassed: Bool? {
        switch self {
        case .passed: true
        case .failed: false
        case .notChecked: nil
        }
    }
}
