internal import Basics
internal import CommandShell
internal import EventLoops
internal import Glibc

/// What the reader of a report must know to repeat the load test: when, where and how it ran.
struct RunFacts {
    /// The most characters of a fact that are shown.
    static let limit = 2000

    let rows: [(key: String, name: String, value: String)]

    /// - Parameter target: The rate that was asked for; `nil` if the load test has none.
    init(target: String?) {
        rows =
            [
                ("date", "date", "\(Timestamp.now.utcText)"), ("host", "host", Self.host),
                ("processor", "processor", Self.processor("model name") ?? "unknown"),
                ("avx512ifma", "AVX-512 IFMA", Self.hasIFMA ? "yes" : "no"),
                ("processors", "processors", "\(sysconf(Int32(_SC_NPROCESSORS_ONLN)))"),
                ("openSSL", "OpenSSL", TLSLibrary.version), ("version", Console.program, ProgramVersion.text),
                ("command", "command", Self.command),
            ] + (target.map { [("target", "target rate", $0)] } ?? [])
    }

    private static var host: String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        gethostname(&name, name.count)
        return printable(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Whether the processor multiplies eight numbers of 52 bits at once, which the RSA engine of this project needs.
    private static var hasIFMA: Bool {
        processor("flags")?.split(separator: " ").contains("avx512ifma") ?? false
    }

    /// What `/proc/cpuinfo` (proc(5)) says of the first processor; `nil` if it does not.
    private static func processor(_ name: String) -> String? {
        let text = (try? FileBytes.read("/proc/cpuinfo", limit: 1 << 23)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ": ", maxSplits: 1).last.map { printable(String($0), limit: limit) }
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
