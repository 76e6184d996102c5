internal import Basics
internal import CommandShell
internal import EventLoops
internal import Glibc

/// What the reader of a report must know to repeat the load test: when, where and how it ran.
package struct RunFacts {
    /// The most characters of a fact that are shown.
    package static let limit = 2000

    private let facts: [(key: String, name: String, value: String)]

    /// - Parameter target: The rate that was asked for; `nil` if the load test has none.
    package init(target: String?) {
        facts =
            [
                ("date", "date", "\(Timestamp.now.utcText)"), ("host", "host", Self.host),
                ("processor", "processor", Self.processor),
                ("processors", "processors", "\(sysconf(Int32(_SC_NPROCESSORS_ONLN)))"),
                ("openSSL", "OpenSSL", TLSLibrary.version), ("version", Console.program, ProgramVersion.text),
                ("command", "command", Self.command),
            ] + (target.map { [("target", "target rate", $0)] } ?? [])
    }

    package var object: [String: String] { Dictionary(uniqueKeysWithValues: facts.map { ($0.key, $0.value) }) }

    /// - Parameter earlier: The facts of an earlier run by their keys; `nil` without one.
    package func add(to page: inout ReportPage, beside earlier: ((String) -> String?)? = nil) {
        let rows = facts.map { fact in [fact.name, fact.value] + (earlier.map { [$0(fact.key) ?? "–"] } ?? []) }
        page.add(table: rows, head: earlier == nil ? [] : ["", "new", "old"], heading: "What was measured")
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        gethostname(&name, name.count)
        return printable(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The processor's model, from `/proc/cpuinfo` (proc(5)).
    private static var processor: String {
        let text = (try? FileBytes.read("/proc/cpuinfo", limit: 1 << 23)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ": ", maxSplits: 1).last.map { printable(String($0)) } ?? "unknown"
    }

    private static var command: String {
        printable(CommandLine.arguments.map(shown).joined(separator: " "), limit: limit)
    }

    /// The argument as a shell would take it. Of a URL with a password only the scheme is shown.
    private static func shown(_ argument: String) -> String {
        let isURL = argument.contains("://") && argument.contains("@")
        let text = isURL ? argument.prefix { $0 != ":" } + "://…" : argument[...]
        let isPlain = text.utf8.allSatisfy { $0 > 0x7F || $0.isLetterOrDigit || "/.:=_-@,+%".utf8.contains($0) }
        return isPlain && !text.isEmpty ? String(text) : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
