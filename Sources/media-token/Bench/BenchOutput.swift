internal import Files
internal import Glibc
internal import MediaTokenGate

/// The results of a load test, for people, for programs and as a page.
protocol BenchReport {
    associatedtype Object: Encodable

    /// The results for a terminal, one string per line.
    var lines: [String] { get }
    var object: Object { get }
    var page: ReportPage { get }
}

/// The options for how a load test shows its results.
struct BenchOutput {
    static let group = OptionGroup(
        heading: "Output:",
        options: [
            CommandOption("json", nil, "Print one JSON object"),
            CommandOption("report", "FILE", "Write a page with plots too (HTML in one file)"),
        ])

    private let isJSON: Bool
    private let file: String?

    init(_ given: Arguments) throws(UsageError) {
        isJSON = given.has("json")
        file = try given.one("report")
    }

    func show(_ report: some BenchReport) throws(CommandError) {
        if isJSON {
            Console.print(JSONLine.encode(report.object))
        } else {
            report.lines.forEach(Console.print)
        }
        guard let file else { return }
        try Self.write(report.page.html, to: file)
    }

    /// Writes a file, replacing an existing one, because users repeat a report after each change.
    private static func write(_ text: String, to path: String) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, FileBytes.write(Array(text.utf8), to: descriptor) else {
            throw CommandError("\(path): \(String(cString: strerror(errno)))")
        }
    }
}

/// Formats figures for people.
enum Figure {
    /// The number rounded to a whole one, its digits in groups of three.
    static func count(_ number: Double) -> String {
        let digits = Array(String(Int(number.rounded())))
        return String(
            digits.enumerated().flatMap { index, digit in
                index > 0 && (digits.count - index) % 3 == 0 && digits[index - 1] != "-" ? [",", digit] : [digit]
            })
    }

    static func count(_ number: Int) -> String { count(Double(number)) }

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

    static func mebibytes(_ bytes: Int) -> String { decimal(Double(bytes) / 1_048_576, places: 1) + " MiB" }
}
