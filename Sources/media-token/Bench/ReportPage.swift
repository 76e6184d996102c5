internal import LoadTest

/// A page of figures and plots: one HTML file that loads nothing else, readable in light and dark colour schemes.
struct ReportPage {
    private let title: String
    private let setting: String
    private var sections: [String] = []

    init(title: String, setting: String) {
        (self.title, self.setting) = (title, setting)
    }

    mutating func add(facts: [(name: String, value: String)]) {
        let rows = facts.map { "<div><dt>\(Self.escaped($0.name))</dt><dd>\(Self.escaped($0.value))</dd></div>" }
        sections.append("<dl>\(rows.joined())</dl>")
    }

    mutating func add(latency: LatencyHistogram, of what: String) {
        add("How long \(what) takes", note: "Logarithmic scale of time.", HistogramPlot(latency).svg)
    }

    mutating func add(timeLine: [(name: String, values: [Double])], unit: String, seconds: Double) {
        add(
            "Over time", note: Self.legend(timeLine.map(\.name)) + " \(Self.escaped(unit))",
            LinePlot(timeLine, seconds: seconds).svg)
    }

    mutating func add(parts: [(name: String, value: Double)], title: String) {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        let names = parts.map { part in
            "\(part.name) \(Figure.time(nanoseconds: part.value)) (\(Figure.decimal(part.value / total * 100, places: 1)) %)"
        }
        add(title, note: Self.legend(names), PartsPlot(parts, names: names).svg)
    }

    private mutating func add(_ heading: String, note: String, _ plot: String) {
        sections.append("<section><h2>\(Self.escaped(heading))</h2><p>\(note)</p>\(plot)</section>")
    }

    private static func legend(_ names: [String]) -> String {
        names.enumerated().map { "<span class=\"key\"><i class=\"c\($0)\"></i>\(escaped($1))</span>" }.joined(
            separator: " ")
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>media-token: \(Self.escaped(title))</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(Self.escaped(title))</h1>
        <p>\(Self.escaped(setting))</p>
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
        dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem; }
        dt { color: var(--faint); font-size: .85rem; } dd { margin: 0; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
        svg { width: 100%; height: auto; display: block; } svg text { fill: var(--faint); font-size: 11px; }
        .axis { stroke: var(--line); } .mark { stroke: var(--text); stroke-dasharray: 3 3; } svg .label { fill: var(--text); }
        .line { fill: none; stroke-width: 2; } .key { margin-right: 1rem; white-space: nowrap; }
        .key i { display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .4em; }
        \((0..<7).map { ".c\($0) { background: var(--c\($0)); fill: var(--c\($0)); } .l\($0) { stroke: var(--c\($0)); }" }.joined(separator: "\n"))
        """
}
