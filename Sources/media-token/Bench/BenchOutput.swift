internal import Basics
internal import CommandShell
internal import LoadTest
internal import Settings

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

    func show(_ report: LoadReport, beside earlier: EarlierRun?) throws(CommandError) {
        let comparison = earlier.map { Comparison(of: report, with: $0) }
        if isJSON {
            Console.print(report.json(comparison).line)
        } else {
            report.lines(comparison).forEach(Console.print)
        }
        if let file { try ReportFile.write(report.page(comparison), to: file) }
    }
}
