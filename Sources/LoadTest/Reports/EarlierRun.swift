internal import Basics
package import CommandShell

/// The results of an earlier load test, as its `--json` output has them.
package struct EarlierRun {
    private static let sizeLimit = 1 << 20

    /// The name of the file, safe to print.
    let name: String
    private let members: JSONObject

    /// - Parameter figure: The member that results of the same kind of load test have.
    package init(reading file: String, with figure: String) throws(CommandError) {
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

    /// A member of the JSON; `nil` if there is none.
    func member(_ name: String) -> JSONValue? { members.members[JSONName(name)] }

    /// A fact of the run; `nil` if the JSON lacks it.
    func fact(_ name: String) -> String? {
        ((try? members.object("run")?.text(name)) ?? nil).map { printable($0, limit: RunFacts.limit) }
    }
}

/// The figures of a run beside those of an earlier one.
package struct Comparison {
    /// How far apart two figures must be to be called better or worse.
    private static let difference = 0.05

    struct Row {
        let name: String
        let figure: ReportFigure
        let old: Double

        /// The new figure divided by the old one; `nil` if that is zero.
        private var ratio: Double? { old == 0 ? nil : figure.value / old }

        var json: JSONValue {
            [
                "new": .number(figure.value), "old": .number(old), "ratio": ratio.map { .number($0) } ?? .null,
            ]
        }

        var cells: [String] {
            let ratio = ratio.map { Figure.decimal($0, places: 3) } ?? "–"
            return [name, figure.shown(figure.value), figure.shown(old), ratio]
        }

        /// Green for a figure that became better, red for one that became worse.
        var style: Style? {
            guard let ratio, abs(ratio - 1) > Comparison.difference else { return nil }
            return (ratio > 1) == (figure.better == .higher) ? .good : .bad
        }
    }

    static let head = ["", "new", "old", "ratio"]

    let earlier: EarlierRun
    let title: String
    let rows: [Row]
    /// The conditions in which the runs differ; `nil` if in none.
    let warning: String?

    /// Compares the figures that both runs have.
    package init(of report: LoadReport, with earlier: EarlierRun) {
        self.earlier = earlier
        title = "Compared with \(earlier.name)" + (earlier.fact("date").map { ", \($0)" } ?? "")
        let different = report.conditions.filter { $0.value != earlier.member($0.name) }.map { name, new in
            "\(name) \(Self.shown(new)) (earlier \(Self.shown(earlier.member(name))))"
        }
        warning = different.isEmpty ? nil : "the runs also differ in: " + different.joined(separator: "; ")
        rows = report.figures.filter { $0.figure.better != nil }.compactMap { name, figure in
            earlier.value(figure.key).map { Row(name: name, figure: figure, old: $0) }
        }
    }

    private static func shown(_ value: JSONValue?) -> String {
        switch value {
        case .text(let text)?: printable(text)
        case .number(let number)?: Figure.count(number)
        default: "none"
        }
    }
}
