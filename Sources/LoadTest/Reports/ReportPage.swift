internal import Basics
internal import CommandShell

/// The page of a report: one HTML file that loads nothing else, readable in light and dark colour schemes.
struct ReportPage {
    private let report: LoadReport
    private let comparison: Comparison?

    init(_ report: LoadReport, _ comparison: Comparison?) { (self.report, self.comparison) = (report, comparison) }

    private var sections: [String] {
        let parts = report.parts.map(Self.section)
        return parts + (comparison.map { [Self.section($0)] } ?? []) + (report.facts.map { [section($0)] } ?? [])
    }

    private static func section(_ part: LoadReport.Part) -> String {
        switch part {
        case .line(let label, let figures):
            let texts = LoadReport.shown(figures).map { "<span>\(xmlEscaped($0))</span>" }
            return line(label, texts.joined(separator: " "))
        case .words(let label, let words): return line(label, xmlEscaped(words))
        case .notice(let text, let style): return notice(text, style)
        case .table(let table):
            let rows = table.rows.map { row in
                ([row.name] + row.cells.map { $0?.text ?? "–" }, row.isFault ? Style.bad : nil)
            }
            return section(table.heading, self.table([""] + table.head, rows, "figures"))
        case .plot(let heading, let note, let svg): return section(heading, "<p>\(note)</p>\(svg)")
        }
    }

    private static func line(_ label: String, _ html: String) -> String {
        "<dl><dt>\(xmlEscaped(label))</dt><dd>\(html)</dd></dl>"
    }

    private static func notice(_ text: String, _ style: Style?) -> String {
        "<p class=\"notice \(style.cssClass)\">\(xmlEscaped(text))</p>"
    }

    private static func section(_ heading: String, _ html: String) -> String {
        "<section><h2>\(xmlEscaped(heading))</h2>\(html)</section>"
    }

    /// A table whose first column names the rows.
    ///
    /// - Parameter kind: `figures` if the cells must not be broken; otherwise empty.
    private static func table(
        _ head: [String], _ rows: [(cells: [String], style: Style?)], _ kind: String
    ) -> String {
        func row(_ cells: [String], _ other: String, _ style: Style? = nil) -> String {
            let first = cells.first.map { "<th>\(xmlEscaped($0))</th>" } ?? ""
            let others = cells.dropFirst().map { "<\(other)>\(xmlEscaped($0))</\(other)>" }.joined()
            return "<tr class=\"\(style.cssClass)\">\(first)\(others)</tr>"
        }
        let top = head.isEmpty ? "" : "<thead>\(row(head, "th"))</thead>"
        let body = rows.map { row($0.cells, "td", $0.style) }.joined(separator: "\n")
        return "<table class=\"\(kind)\">\(top)<tbody>\(body)</tbody></table>"
    }

    private static func section(_ comparison: Comparison) -> String {
        let warning = comparison.warning.map { notice($0, .doubt) } ?? ""
        let rows = comparison.rows.map { ($0.cells, $0.style) }
        return section(comparison.title, warning + table(Comparison.head, rows, "figures"))
    }

    /// What a reader needs to repeat the load test, beside the same of the earlier one.
    private func section(_ facts: RunFacts) -> String {
        let rows = facts.rows.map { fact in
            ([fact.name, fact.value] + (comparison.map { [$0.earlier.fact(fact.key) ?? "–"] } ?? []), Style?.none)
        }
        return Self.section(
            "What was measured", Self.table(comparison == nil ? [] : ["", "new", "old"], rows, ""))
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(xmlEscaped("\(Console.program): \(report.title)"))</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(xmlEscaped(report.title))</h1>
        <p>\(xmlEscaped(report.setting))</p>
        \(sections.joined(separator: "\n"))
        </main>
        </body>
        </html>

        """
    }

    /// What a report has beside the style of all pages. The series have the colours of that.
    private static let style = """
        \(PageStyle.text)
        main { max-width: 56rem; padding: 2rem 1rem; }
        section { margin-top: 1rem; }
        p { color: var(--faint); margin: .25rem 0 .75rem; }
        dl { display: flex; flex-wrap: wrap; margin: 0; padding: .3rem 0; border-bottom: 1px solid var(--line); }
        dt { color: var(--faint); width: 9rem; }
        dd { margin: 0; flex: 1 1 20rem; font-variant-numeric: tabular-nums; }
        dd > * { display: inline-block; margin-right: 1rem; }
        .notice { color: var(--ink); border-left: 3px solid; padding-left: .75rem; }
        .notice.warn { color: var(--b); }
        .notice.bad, tr.bad * { color: var(--bad); }
        tr.good * { color: var(--good); }
        table { font-variant-numeric: tabular-nums; }
        th, td { border-bottom: 1px solid var(--line); }
        th { color: var(--faint); font-weight: normal; }
        td, th { overflow-wrap: anywhere; }
        .figures td, table:not(.figures) th { white-space: nowrap; }
        td:last-child, th:last-child { padding-right: 0; }
        @media (max-width: 30rem) { th, td { padding-right: .4rem; } .figures td { white-space: normal; } }
        .plot { display: block; overflow: visible; height: 12rem; width: calc(100% - 5.5rem); margin: 1rem 1.5rem 2.5rem 4rem; }
        .marked { margin-top: 4rem; }
        .parts { height: 2.5rem; width: 100%; margin: 1rem 0; }
        svg text { fill: var(--faint); font-size: 12px; }
        svg .label { fill: var(--ink); stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
        .axis { stroke: var(--line); }
        .mark { stroke: var(--ink); stroke-dasharray: 3 3; }
        .line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
        .key { display: inline-block; margin-right: 1rem; }
        .key i { display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .4em; }
        \(zip(0..., ["a", "b", "c", "d", "e", "f", "g"]).map(colour).joined(separator: "\n"))
        """

    /// The rules that give a series its colour.
    private static func colour(_ series: Int, _ name: String) -> String {
        ".c\(series) { background: var(--\(name)); fill: var(--\(name)); } .l\(series) { stroke: var(--\(name)); }"
    }
}

extension LoadReport {
    /// The page of the report.
    ///
    /// - Parameter comparison: The figures beside those of an earlier run.
    package func page(_ comparison: Comparison? = nil) -> String { ReportPage(self, comparison).html }
}

extension Style? {
    /// The class of what has the style.
    fileprivate var cssClass: String {
        switch self {
        case .good: "good"
        case .bad: "bad"
        case .doubt: "warn"
        case .faint, .strong, nil: ""
        }
    }
}
