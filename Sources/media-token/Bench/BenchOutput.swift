internal import CommandShell
internal import Files
internal import Glibc
internal import MediaTokenGate

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

/// A figure in the results of a load test.
struct ReportFigure {
    let name: String
    /// Its place in the JSON.
    let key: [String]
    let value: Double
    let shown: (Double) -> String
}

/// The options for how a load test shows its results.
struct BenchOutput {
    static let group = OptionGroup(
        heading: "Output:",
        options: [
            CommandOption("json", nil, "Print one JSON object"),
            CommandOption("report", "FILE", "Write a page with plots too (HTML in one file)"),
            CommandOption("compare", "FILE", "Compare with an earlier run, whose --json output is in FILE"),
        ])

    private let isJSON: Bool
    private let file: String?
    private let comparedFile: String?

    init(_ given: Arguments) throws(UsageError) {
        isJSON = given.has("json")
        file = try given.one("report")
        comparedFile = try given.one("compare")
    }

    /// Throws if the page cannot be written, which is better known before a long run than after it.
    func checkPage() throws(CommandError) {
        if let file { close(try Self.open(file)) }
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
        facts.add(to: &page, beside: earlier)
        try Self.write(page.html, to: file)
    }

    /// Writes a file, replacing an existing one, because users repeat a report after each change.
    private static func write(_ text: String, to path: String) throws(CommandError) {
        let descriptor = try open(path, O_TRUNC)
        defer { close(descriptor) }
        guard FileBytes.write(Array(text.utf8), to: descriptor) else { throw failure(path) }
    }

    private static func open(_ path: String, _ flags: Int32 = 0) throws(CommandError) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        return descriptor
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError("\(path): \(String(cString: strerror(errno)))")
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

/// Formats figures for people.
enum Figure {
    /// The number rounded to a whole one, its digits in groups of three.
    static func count(_ number: Double) -> String {
        guard abs(number) < 1e15 else { return "\(number)" }
        let digits = Array(String(Int(number.rounded())))
        return String(
            digits.enumerated().flatMap { index, digit in
                index > 0 && (digits.count - index) % 3 == 0 && digits[index - 1] != "-" ? [",", digit] : [digit]
            })
    }

    static func count(_ number: Int) -> String { count(Double(number)) }

    /// The number of things of a kind whose name is `noun` in the singular.
    static func count(_ number: Int, _ noun: String) -> String { "\(count(number)) \(noun)\(number == 1 ? "" : "s")" }

    /// The number as a label of an axis.
    static func axis(_ number: Double) -> String {
        number == number.rounded() ? count(number) : decimal(number, places: 2)
    }

    /// The number with `places` digits after the decimal point.
    static func decimal(_ number: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = Int((abs(number) * scale).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        let digits = String(rest)
        let sign = number < 0 && scaled > 0 ? "-" : ""
        return places == 0
            ? "\(sign)\(whole)" : "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
    }

    /// The duration in the unit that suits its length.
    static func time(nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: decimal(nanoseconds, places: 0) + " ns"
        case ..<1e6: decimal(nanoseconds / 1e3, places: nanoseconds < 1e5 ? 2 : 0) + " µs"
        case ..<1e9: decimal(nanoseconds / 1e6, places: nanoseconds < 1e8 ? 2 : 0) + " ms"
        default: decimal(nanoseconds / 1e9, places: 2) + " s"
        }
    }

    static func time(nanoseconds: UInt64) -> String { time(nanoseconds: Double(nanoseconds)) }

    /// The duration as a label of an axis, without zeros after the decimal point.
    static func shortTime(nanoseconds: Double) -> String {
        let parts = time(nanoseconds: nanoseconds).split(separator: " ")
        let number = Double(parts[0]) ?? 0
        let short = number == number.rounded() ? decimal(number, places: 0) : "\(number)"
        return "\(short) \(nanoseconds == 0 ? "s" : parts[1])"
    }

    static func mebibytes(_ bytes: Int) -> String { decimal(Double(bytes) / 1_048_576, places: 1) + " MiB" }
}
