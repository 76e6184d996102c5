internal import Basics
internal import CommandShell
internal import LoadTest
internal import Settings

/// `media-token refusals`: sums up what a gate refused, or only reported, by its log.
enum RefusalsCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token refusals", operands: "[LOG | -]...",
        summary: "Sum up what a gate refused, or only reported, and the likely causes.",
        details: """
            LOG is a file with the lines that a gate writes on standard output; without one, or for -, they are read from \
            standard input. Other lines are counted and skipped. The gate of the Debian package writes to the journal:
              journalctl -u media-token -o cat --since -7d | media-token refusals

            The shares are of all requests but those that a playback grant or an open route allowed. An app is the first word of its User-Agent. Hours are in UTC. A log \
            with only some of the answers (log-every) has other shares.

            Exit status: 0 nothing was refused, 1 something was, 2 a log cannot be read or has no line of a gate, 64 usage.

            Example:
              echo '{"code":"VALID_TOKEN"}' | media-token refusals
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>.group(
            "Output",
            [
                .flag("json", "Print one JSON object", \.isJSON),
                .text("report", "FILE", "Write the summary as a page too (HTML in one file)", \.file),
            ])

        var isJSON = false
        var file: String?
        var logs: [String] = []

        mutating func take(_ operands: [String]) { logs = operands }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        if let file = invocation.file { try ReportFile.check(file) }
        var summary = LogSummary()
        for log in invocation.logs.isEmpty ? ["-"] : invocation.logs {
            try TokenInput(file: log == "-" ? nil : log).forEachLine("log", limit: 65_536) { summary.add($0) }
        }
        guard summary.gateLines > 0 else {
            throw CommandError(
                "no line of a gate among \(Figure.count(summary.otherLines, "line")); expected what 'media-token serve' writes on standard output"
            )
        }
        let report = summary.report
        if invocation.isJSON {
            Console.print(report.json().line)
        } else {
            report.lines().forEach(Console.print)
        }
        if let file = invocation.file { try ReportFile.write(report.page(), to: file) }
        return summary.refused > 0 ? .rejected : .success
    }
}
