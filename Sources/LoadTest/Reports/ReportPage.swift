internal import Basics
internal import CommandShell

/// A page of figures and plots: one HTML file that loads nothing else, readable in light and dark colour schemes.
package struct ReportPage {
    private let title: String
    private let setting: String
    private var sections: [String] = []

    package init(title: String, setting: String) {
        (self.title, self.setting) = (title, setting)
    }

    package mutating func add(facts: [(name: String, value: String)]) {
        let rows = facts.map { "<div><dt>\(xmlEscaped($0.name))</dt><dd>\(xmlEscaped($0.value))</dd></div>" }
        sections.append("<dl>\(rows.joined())</dl>")
    }

    package mutating func add(notice: String) { sections.append("<p class=\"notice\">\(xmlEscaped(notice))</p>") }

    /// Adds a table whose first column names the rows.
    ///
    /// - Parameter style: `figures` if the cells must not be broken; otherwise empty.
    package mutating func add(table rows: [[String]], head: [String], heading: String, style: String = "") {
        func row(_ cells: [String], _ other: String) -> String {
            let first = cells.first.map { "<th>\(xmlEscaped($0))</th>" } ?? ""
            return "<tr>\(first)\(cells.dropFirst().map { "<\(other)>\(xmlEscaped($0))</\(other)>" }.joined())</tr>"
        }
        let top = head.isEmpty ? "" : "<thead>\(row(head, "th"))</thead>"
        let body = rows.map { row($0, "td") }.joined(separator: "\n")
        let table = "<table class=\"\(style)\">\(top)<tbody>\(body)</tbody></table>"
        sections.append("<section><h2>\(xmlEscaped(heading))</h2>\(table)</section>")
    }

    /// - Parameter noun: What takes the time, in the singular.
    package mutating func add(latency: LatencyHistogram, of noun: String, title: String) {
        add(
            title, note: "Number of \(noun)s by their duration, on a logarithmic scale of time.",
            HistogramPlot(latency, of: noun).svg)
    }

    package mutating func add(_ plot: LinePlot, title: String) {
        add(title, note: Self.legend(plot.series.map(\.name)), plot.svg)
    }

    /// Adds the latency of each turn, where there was one.
    package mutating func add(latencies: [LatencyHistogram], turnSeconds: Double) {
        let series = [("p50", 0.5), ("p99", 0.99)].map { name, part in
            (name, latencies.map { $0.count == 0 ? nil : Double($0.quantile(part)) })
        }
        add(
            LinePlot(series: series, turnSeconds: turnSeconds) { Figure.shortTime(nanoseconds: $0) },
            title: "Latency over time")
    }

    package mutating func add(parts: [(name: String, value: Double)], title: String) {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        let names = parts.map { part in
            "\(part.name) \(Figure.time(nanoseconds: part.value)) (\(Figure.decimal(part.value / total * 100, places: 1)) %)"
        }
        add(title, note: Self.legend(names), PartsPlot(parts: parts, names: names).svg)
    }

    private mutating func add(_ heading: String, note: String, _ plot: String) {
        sections.append("<section><h2>\(xmlEscaped(heading))</h2><p>\(note)</p>\(plot)</section>")
    }

    private static func legend(_ names: [String]) -> String {
        names.enumerated().map { "<span class=\"key\"><i class=\"c\($0)\"></i>\(xmlEscaped($1))</span>" }.joined(
            separator: " ")
    }

    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(xmlEscaped("\(Console.program): \(title)"))</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(xmlEscaped(title))</h1>
        <p>\(xmlEscaped(setting))</p>
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
        dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 1rem; }
        dt { color: var(--faint); font-size: .85rem; }
        dd { margin: 0; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
        .notice { color: var(--ink); border-left: 3px solid var(--b); padding-left: .75rem; }
        table { font-variant-numeric: tabular-nums; }
        th, td { border-bottom: 1px solid var(--line); }
        th { color: var(--faint); font-weight: normal; }
        td { overflow-wrap: anywhere; }
        .figures td, table:not(.figures) th { white-space: nowrap; }
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
