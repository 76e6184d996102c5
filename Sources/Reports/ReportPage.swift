internal import CommandShell
package import LoadTest
internal import TextEncodings

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

    /// The colours of the series are distinct in both schemes, also for readers who confuse red and green.
    private static let style = """
        :root { --back: #fff; --text: #1b1f24; --faint: #5c6670; --line: #d5dade;
          --c0: #0b6bcb; --c1: #c2570c; --c2: #0f8a7e; --c3: #7a4fc2; --c4: #b03a6f; --c5: #7c7a12; --c6: #59636e; }
        @media (prefers-color-scheme: dark) {
          :root { --back: #14181d; --text: #e4e8ec; --faint: #9aa4ae; --line: #343c45;
            --c0: #5aa9f5; --c1: #f0974e; --c2: #45c4b5; --c3: #b394ee; --c4: #ec86b3; --c5: #c9c659; --c6: #a3adb8; } }
        body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 52rem; margin: 0 auto; padding: 2rem 1rem; }
        h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 0; }
        p { color: var(--faint); margin: .25rem 0 .75rem; }
        dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: 1rem; }
        dt { color: var(--faint); font-size: .85rem; } dd { margin: 0; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
        .notice { color: var(--text); border-left: 3px solid var(--c1); padding-left: .75rem; }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--line);
          font-weight: normal; } th { color: var(--faint); } td { overflow-wrap: anywhere; }
        .figures td, table:not(.figures) th { white-space: nowrap; }
        .plot { display: block; overflow: visible; height: 12rem; width: calc(100% - 5.5rem); margin: 1rem 1.5rem 2.5rem 4rem; }
        .marked { margin-top: 4rem; } .parts { height: 2.5rem; width: 100%; margin: 1rem 0; }
        svg text { fill: var(--faint); font-size: 12px; }
        .axis { stroke: var(--line); } .mark { stroke: var(--text); stroke-dasharray: 3 3; } svg .label { fill: var(--text); stroke: var(--back); stroke-width: 4px; paint-order: stroke; }
        .line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; } .key { display: inline-block; margin-right: 1rem; }
        .key i { display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .4em; }
        \((0..<7).map { ".c\($0) { background: var(--c\($0)); fill: var(--c\($0)); } .l\($0) { stroke: var(--c\($0)); }" }.joined(separator: "\n"))
        """
}
