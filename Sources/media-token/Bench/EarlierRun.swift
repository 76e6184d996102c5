internal import Basics
internal import CommandShell
internal import LoadTest

/// The results of an earlier load test, as its `--json` output has them.
struct EarlierRun {
    private static let sizeLimit = 1 << 20

    /// The name of the file, safe to print.
    let name: String
    private let members: JSONObject

    /// - Parameter figure: The member that results of the same kind of load test have.
    init(reading file: String, with figure: String) throws(CommandError) {
        name = printable(file)
        do {
            members = try StrictJSON.readObject(FileBytes.read(file, limit: Self.sizeLimit)[...], valueLimit: 4096)
        } catch {
            throw CommandError("\(name): \((error as? JSONError)?.reason ?? "\(error)")")
        }
        guard value([figure]) != nil else {
            throw CommandError("\(name): no \(figure) in it; expected what the same command printed with --json")
        }
    }

    /// The number at a place in the JSON; `nil` if there is none.
    func value(_ key: [String]) -> Double? {
        var members: JSONObject? = members
        for name in key.dropLast() { members = (try? members?.object(name)) ?? nil }
        guard case .number(let number)? = key.last.flatMap({ members?.members[JSONName($0)] }) else { return nil }
        return number
    }

    /// What a member of the JSON says, safe to print; `nil` if there is none.
    func condition(_ name: String) -> String? {
        switch members.members[JSONName(name)] {
        case .text(let text)?: printable(text)
        case .number(let number)?: Figure.count(number)
        default: nil
        }
    }

    /// A fact of the run; `nil` if the JSON lacks it.
    func fact(_ name: String) -> String? {
        ((try? members.object("run")?.text(name)) ?? nil).map { printable($0, limit: RunFacts.limit) }
    }
}

/// The figures of a run beside those of an earlier one.
struct Comparison {
    struct Row: Encodable {
        let new: Double
        let old: Double
        /// The new figure divided by the old one; `nil` if that is zero.
        let ratio: Double?
    }

    private let earlier: EarlierRun
    private let rows: [(figure: ReportFigure, row: Row)]
    /// The conditions in which the runs differ; `nil` if in none.
    private let warning: String?

    /// Compares the figures that both runs have.
    init(of report: some BenchReport, with earlier: EarlierRun) {
        self.earlier = earlier
        let different = report.conditions.filter { $0.value != earlier.condition($0.name) }.map { name, new in
            "\(name) \(new ?? "none") (earlier \(earlier.condition(name) ?? "none"))"
        }
        warning = different.isEmpty ? nil : "the runs also differ in: " + different.joined(separator: "; ")
        rows = report.figures.compactMap { figure in
            earlier.value(figure.key).map { old in
                (figure, Row(new: figure.value, old: old, ratio: old == 0 ? nil : figure.value / old))
            }
        }
    }

    var object: [String: Row] {
        Dictionary(rows.map { ($0.figure.key.joined(separator: "."), $0.row) }, uniquingKeysWith: { $1 })
    }

    private static let head = ["", "new", "old", "ratio"]

    private var table: [[String]] {
        rows.map { figure, row in
            let ratio = row.ratio.map { Figure.decimal($0, places: 3) } ?? "–"
            return [figure.name, figure.shown(row.new), figure.shown(row.old), ratio]
        }
    }

    private var title: String { "Compared with \(earlier.name)" + (earlier.fact("date").map { ", \($0)" } ?? "") }

    var lines: [String] {
        let widths = [32, 12, 12, 8]
        let rows = ([Self.head] + table).map { cells in
            zip(cells, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined()
        }
        return [title] + (warning.map { [$0] } ?? []) + rows
    }

    func add(to page: inout ReportPage) {
        if let warning { page.add(notice: warning) }
        page.add(table: table, head: Self.head, heading: title, style: "figures")
    }
}
