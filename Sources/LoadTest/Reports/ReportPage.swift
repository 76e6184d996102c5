internal import Basics
internal import CommandShell

/// The page of a report: one HTML file that loads nothing else, readable in light and dark colour schemes.
struct ReportPage {
    private let report: LoadReport
    private let earlier: EarlierRun?

    init(_ report: LoadReport, beside earlier: EarlierRun?) { (self.report, self.earlier) = (report, earlier) }

    private var sections: [String] {
        let parts = report.parts.map(Self.section)
        guard let earlier else { return parts + [facts] }
        return parts + [comparison(Comparison(of: report, with: earlier)), facts]
    }

    private static func section(_ part: LoadReport.Part) -> String {
        switch part {
        case .line(let label, let figures):
            let texts = LoadReport.shown(figures).map { "<span>\(xmlEscaped($0))</span>" }
            return line(label, texts.joined(separator: " "))
        case .words(let label, let words): return line(label, xmlEscaped(words))
        case .notice(let text, let concern): return notice(text, concern.style)
        case .table(let table):
            let rows = table.rows.map { row in
                ([row.name] + row.cells.map { $0?.text ?? "–" }, row.isFault ? "bad" : "")
            }
            return section(table.heading, self.table([""] + table.head, rows, "figures"))
        case .plot(let heading, let note, let svg): return section(heading, "<p>\(note)</p>\(svg)")
        }
    }

    private static func line(_ label: String, _ html: String) -> String {
        "<dl><dt>\(xmlEscaped(label))</dt><dd>\(html)</dd></dl>"
    }

    private static func notice(_ text: String, _ style: String) -> String {
        "<p class=\"notice \(style)\">\(xmlEscaped(text))</p>"
    }

    private static func section(_ heading: String, _ html: String) -> String {
        "<section><h2>\(xmlEscaped(heading))</h2>\(html)</section>"
    }

    /// A table whose first column names the rows.
    ///
    /// - Parameter style: `figures` if the cells must not be broken; otherwise empty.
    private static func table(
        _ head: [String], _ rows: [(cells: [String], style: String)], _ style: String
    ) -> String {
        func row(_ cells: [String], _ other: String, _ style: String = "") -> String {
            let first = cells.first.map { "<th>\(xmlEscaped($0))</th>" } ?? ""
            let others = cells.dropFirst().map { "<\(other)>\(xmlEscaped($0))</\(other)>" }.joined()
            return "<tr\(style.isEmpty ? "" : " class=\"\(style)\"")>\(first)\(others)</tr>"
        }
        let top = head.isEmpty ? "" : "<thead>\(row(head, "th"))</thead>"
        let body = rows.map { row($0.cells, "td", $0.style) }.joined(separator: "\n")
        return "<table class=\"\(style)\">\(top)<tbody>\(body)</tbody></table>"
    }

    private func comparison(_ comparison: Comparison) -> String {
        let warning = comparison.warning.map { Self.notice($0, LoadReport.Concern.doubt.style) } ?? ""
        let rows = comparison.rows.map { ($0.cells, $0.style.map { "\($0)" } ?? "") }
        return Self.section(comparison.title, warning + Self.table(["", "new", "old", "ratio"], rows, "figures"))
    }

    /// What a reader needs to repeat the load test, beside the same of the earlier one.
    private var facts: String {
        let rows = report.facts.rows.map { fact in
            ([fact.name, fact.value] + (earlier.map { [$0.fact(fact.key) ?? "–"] } ?? []), "")
        }
        return Self.section(
            "What was measured", Self.table(earlier == nil ? [] : ["", "new", "old"], rows, ""))
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
        td { overflow-wrap: anywhere; }
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
    /// - Parameter earlier: A run to compare with.
    package func page(beside earlier: EarlierRun? = nil) -> String { ReportPage(self, beside: earlier).html }

    /// Adds a plot of how often each duration occurred.
    ///
    /// - Parameter noun: What takes the time, in the singular.
    package mutating func add(latency: LatencyHistogram, of noun: String, title: String) {
        add(
            plot: HistogramPlot(latency, of: noun).svg, heading: title,
            note: "Number of \(noun)s by their duration, on a logarithmic scale of time.")
    }

    /// Adds a plot of values by turn.
    package mutating func add(
        _ series: [(name: String, values: [Double?])], turnSeconds: Double, title: String,
        _ label: @escaping (Double) -> String = Figure.axis
    ) {
        let scale = PlotScale(to: series.flatMap(\.values).compactMap(\.self).max() ?? 1, label)
        let plot = LinePlot(series, scale: scale, turnSeconds: turnSeconds)
        add(plot: plot.svg, heading: title, note: Self.legend(series.map(\.name)))
    }

    /// Adds a plot of the latency of each turn in which there was one.
    package mutating func add(latencies: [LatencyHistogram], turnSeconds: Double) {
        let series = Self.quantiles(of: latencies)
        let plot = LinePlot(series, scale: Self.scale(series), turnSeconds: turnSeconds)
        add(plot: plot.svg, heading: "Latency over time", note: Self.legend(series.map(\.name)))
    }

    /// Adds a plot of the latency at each of some rates.
    package mutating func add(latencies: [LatencyHistogram], atRates rates: [Double]) {
        let series = Self.quantiles(of: latencies)
        let plot = LinePlot(series, scale: Self.scale(series), over: rates)
        add(plot: plot.svg, heading: "Latency by requests a second", note: Self.legend(series.map(\.name)))
    }

    private static func quantiles(of latencies: [LatencyHistogram]) -> [LinePlot.Series] {
        [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].map { name, part in
            (name, latencies.map { $0.count == 0 ? nil : Double($0.quantile(part)) })
        }
    }

    /// The scale for latencies is logarithmic, since one that is rare and a hundred times as long counts most.
    private static func scale(_ series: [LinePlot.Series]) -> PlotScale {
        let values = series.flatMap(\.values).compactMap(\.self)
        return PlotScale(from: values.min() ?? 1, to: values.max() ?? 1) { Figure.shortTime(nanoseconds: $0) }
    }

    /// Adds a plot of the parts of a whole.
    package mutating func add(parts: [(name: String, value: Double)], title: String) {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        let names = parts.map { part in
            "\(part.name) \(Figure.time(nanoseconds: part.value)) (\(Figure.decimal(part.value / total * 100, places: 1)) %)"
        }
        add(plot: PartsPlot(parts: parts, names: names).svg, heading: title, note: Self.legend(names))
    }

    private static func legend(_ names: [String]) -> String {
        names.enumerated().map { "<span class=\"key\"><i class=\"c\($0)\"></i>\(xmlEscaped($1))</span>" }.joined(
            separator: " ")
    }
}

extension LoadReport.Concern {
    /// The class of a notice.
    fileprivate var style: String {
        switch self {
        case .none: ""
        case .doubt: "warn"
        case .fault: "bad"
        }
    }
}
