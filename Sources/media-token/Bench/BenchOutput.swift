internal import CommandShell
internal import LoadTest
internal import MediaTokenGate
internal import Settings

/// The results of a load test, for people, for programs and as a page.
protocol BenchReport {
    associatedtype Object: Encodable

    /// The member of the JSON that tells the results of this kind of load test from others.
    static var mainFigure: String { get }

    var title: String { get }
    var setting: String { get }
    /// The results for a terminal, one string per line.
    var lines: [String] { get }
    var object: Object { get }
    /// What must be the same in two runs that are compared, by the members of the JSON; `nil` for one without a value.
    var conditions: [(name: String, value: String?)] { get }
    /// The figures that can be compared with those of an earlier run.
    var figures: [ReportFigure] { get }
    /// Further results for the page.
    var results: [(name: String, value: String)] { get }
    /// The rate that was asked for; `nil` if the load test has none.
    var target: String? { get }

    func addPlots(to page: inout ReportPage)
}

/// The options for how a load test shows its results.
struct BenchOutput {
    static let table = SettingsTable<BenchOutput>.group(
        "Output",
        [
            .flag("json", "Print one JSON object", \.isJSON),
            .text("report", "FILE", "Write a page with plots too (HTML in one file)", \.file),
            .text("compare", "FILE", "Compare with an earlier run, whose --json output is in FILE", \.comparedFile),
        ])

    private var isJSON = false
    private var file: String?
    private var comparedFile: String?

    /// Throws if the page cannot be written, which is better known before a long run than after it.
    func checkPage() throws(CommandError) {
        if let file { try ReportFile.check(file) }
    }

    /// The run to compare with, whose JSON must have the member `figure`; `nil` if no run is named.
    func earlier(with figure: String) throws(CommandError) -> EarlierRun? {
        try comparedFile.map { (file) throws(CommandError) in try EarlierRun(reading: file, with: figure) }
    }

    func show(_ report: some BenchReport, beside earlier: EarlierRun?) throws(CommandError) {
        let facts = RunFacts(target: report.target)
        let comparison = earlier.map { Comparison(of: report, with: $0) }
        if isJSON {
            Console.print(
                JSONLine.encode(WholeObject(report: report.object, run: facts.object, compared: comparison?.object)))
        } else {
            (report.lines + (comparison?.lines ?? [])).forEach(Console.print)
        }
        guard let file else { return }
        var page = ReportPage(title: report.title, setting: report.setting)
        page.add(facts: report.figures.map { ($0.name, $0.shown($0.value)) } + report.results)
        comparison?.add(to: &page)
        report.addPlots(to: &page)
        facts.add(to: &page, beside: earlier.map { run in { run.fact($0) } })
        try ReportFile.write(page.html, to: file)
    }
}

/// The JSON of a report, with the facts of the run and the comparison as further members.
private struct WholeObject<Report: Encodable>: Encodable {
    private enum Key: String, CodingKey { case run, compared }

    let report: Report
    let run: [String: String]
    let compared: [String: Comparison.Row]?

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(run, forKey: .run)
        try members.encodeIfPresent(compared, forKey: .compared)
    }
}
