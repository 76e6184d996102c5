package import Basics
package import CommandShell

/// The results of a load test, in the order in which a reader wants them. What it shows on a terminal, as JSON and as a
/// page is made from the same parts.
package struct LoadReport {
    /// A table whose first column names the rows.
    package struct Table {
        package struct Row {
            let name: String
            let cells: [ReportFigure?]
            let isFault: Bool

            package init(_ name: String, _ cells: [ReportFigure?], isFault: Bool = false) {
                (self.name, self.cells, self.isFault) = (name, cells, isFault)
            }
        }

        let heading: String
        let head: [String]
        let rows: [Row]

        package init(_ heading: String, head: [String], _ rows: [Row]) {
            (self.heading, self.head, self.rows) = (heading, head, rows)
        }
    }

    enum Part {
        case line(String, [ReportFigure])
        case words(String, String)
        case notice(String, Style?)
        case table(Table)
        case plot(heading: String, note: String, svg: String)
    }

    package let title: String
    let setting: String
    /// What a reader needs to repeat the load test; `nil` for a summary of something else.
    let facts: RunFacts?
    private(set) var parts: [Part] = []
    /// What must be the same in two runs that are compared, by its member of the JSON.
    private(set) var conditions: [(name: String, value: JSONValue?)] = []
    /// The members of the JSON that are no figures.
    private var members: [String: JSONValue] = [:]

    /// - Parameters:
    ///   - title: The kind of load test.
    ///   - setting: What was done, in a line.
    ///   - target: The rate that was asked for; `nil` if the load test has none.
    package init(title: String, setting: String, target: String? = nil) {
        (self.title, self.setting, facts) = (title, setting, RunFacts(target: target))
    }

    /// Creates a report that sums up something else than a load test.
    package init(summary title: String, setting: String) { (self.title, self.setting, facts) = (title, setting, nil) }

    /// Adds a line of figures.
    package mutating func add(_ label: String, _ figures: [ReportFigure?]) {
        let figures = figures.compactMap(\.self)
        if !figures.isEmpty { parts.append(.line(label, figures)) }
    }

    /// Adds for which part of the time the load had a processor when it wanted one. On a busy machine, the figures are
    /// those of other programs too.
    package mutating func add(_ processor: ProcessorTime, key: [String] = ["processorShare"]) {
        let share = ReportFigure(
            "there for # of the time in which the load wanted one", key, processor.share, .part, better: .higher,
            named: "share of the processor")
        add("processor", [share])
        guard processor.share < 0.9 else { return }
        add(
            notice:
                "not this machine's figures: the load waited for \(Figure.decimal((1 - processor.share) * 100, places: 0)) % "
                + "of the time for a processor that something else had", .doubt)
    }

    package mutating func add(_ label: String, words: String) { parts.append(.words(label, words)) }

    /// Adds a sentence on what the figures mean: in orange if they may be wrong, in red if something went wrong.
    package mutating func add(notice: String?, _ style: Style? = nil) {
        if let notice { parts.append(.notice(notice, style)) }
    }

    package mutating func add(_ table: Table) { parts.append(.table(table)) }

    mutating func add(plot svg: String, heading: String, note: String) {
        parts.append(.plot(heading: heading, note: note, svg: svg))
    }

    /// Adds a member to the JSON.
    package mutating func add(member name: String, _ value: (any JSONRepresentable)?) { members[name] = value?.json }

    /// Adds a member to the JSON that must be the same in two runs that are compared.
    package mutating func add(condition name: String, _ value: (any JSONRepresentable)?) {
        conditions.append((name, value?.json))
        members[name] = value?.json
    }

    /// The figures with what they are called, in order.
    var figures: [(name: String, figure: ReportFigure)] {
        parts.flatMap { part -> [(String, ReportFigure)] in
            switch part {
            case .line(let label, let figures): figures.map { ($0.name(below: label), $0) }
            case .table(let table):
                table.rows.flatMap { row in row.cells.compactMap(\.self).map { ($0.name(below: row.name), $0) } }
            case .words, .notice, .plot: []
            }
        }
    }

    /// The report as one JSON object.
    ///
    /// - Parameter comparison: The figures beside those of an earlier run.
    package func json(_ comparison: Comparison? = nil) -> JSONValue {
        var object = members.json
        for (_, figure) in figures { object.set(figure.key[...], figure.json) }
        for (key, _, value) in facts?.rows ?? [] { object.set(["run", key], .text(value)) }
        for row in comparison?.rows ?? [] {
            object.set(["compared", row.figure.key.joined(separator: ".")], row.json)
        }
        return object
    }

    /// The report for a terminal, one string a line.
    ///
    /// - Parameter comparison: The figures beside those of an earlier run.
    package func lines(_ comparison: Comparison? = nil) -> [String] {
        var lines = [setting]
        for part in parts {
            switch part {
            case .line(let label, let figures):
                let texts = Self.shown(figures)
                let first = texts.prefix(1).map { lines.count == 1 ? Style.strong($0) : $0 }
                lines.append(Self.left(label, 16) + (first + texts.dropFirst()).joined(separator: "  "))
            case .words(let label, let words): lines.append(Self.left(label, max(16, label.count + 2)) + words)
            case .notice(let text, let style): lines.append(style?(text) ?? text)
            case .table(let table): lines += (lines.last == "" ? [] : [""]) + Self.lines(table) + [""]
            case .plot: break
            }
        }
        guard let comparison else { return lines }
        return lines + [comparison.title] + (comparison.warning.map { [Style.doubt($0)] } ?? [])
            + Self.lines(Comparison.head, comparison.rows.map { ($0.cells, $0.style) })
    }

    /// The figures that people see.
    static func shown(_ figures: [ReportFigure]) -> [String] { figures.filter(\.isShown).map(\.text) }

    private static func lines(_ table: Table) -> [String] {
        lines(
            [table.heading] + table.head,
            table.rows.map { row in
                ([row.name] + row.cells.map { $0?.text ?? "–" }, row.isFault ? .bad : nil)
            })
    }

    /// The lines of a table, whose columns are as wide as their cells.
    private static func lines(_ head: [String], _ rows: [(cells: [String], style: Style?)]) -> [String] {
        let widths = head.indices.map { column in
            (rows.map { $0.cells[column].count } + [head[column].count]).max() ?? 0
        }
        return ([(head, nil)] + rows).map { cells, style in
            let line = zip(cells, widths).enumerated().map { column, cell in
                column == 0 ? left(cell.0, cell.1) : left("", cell.1 + 2 - cell.0.count) + cell.0
            }.joined()
            return style?(line) ?? line
        }
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension JSONValue {
    /// Sets a member of the object, or of one of the objects in it.
    fileprivate mutating func set(_ path: ArraySlice<String>, _ value: JSONValue) {
        guard let name = path.first else { return self = value }
        var members: [JSONName: JSONValue] = if case .object(let members) = self { members } else { [:] }
        members[JSONName(name), default: [:]].set(path.dropFirst(), value)
        self = .object(members)
    }
}
