internal import Files
internal import Glibc

/// Standard output and standard error.
enum Console {
    /// Whether standard output is a terminal and the user has not asked for plain text (https://no-color.org).
    static let usesColour = isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    /// Whether a person sees standard error, so that progress is worth showing.
    static let showsProgress = isatty(STDERR_FILENO) == 1

    // The program is single-threaded: it reads, verifies and prints in turn.
    private nonisolated(unsafe) static var pending: [UInt8] = []
    private static let flushThreshold = 1 << 16

    /// A line on standard output, which is written out when there is much of it, and by ``flush()``.
    static func print(_ line: String) {
        pending += Array(line.utf8) + [UInt8(ascii: "\n")]
        if pending.count >= flushThreshold { flush() }
    }

    /// Writes out what was printed. Output that cannot be written ends the program: whoever reads it would miss a part.
    static func flush() {
        defer { pending = [] }
        guard !FileBytes.write(pending, to: STDOUT_FILENO) else { return }
        writeProgress("media-token: standard output: \(String(cString: strerror(errno)))\n")
        exit(ExitStatus.undecided.rawValue)
    }

    /// A message on standard error, behind the program's name, after all that was printed before.
    static func printError(_ message: String) {
        flush()
        for line in message.split(separator: "\n") {
            writeProgress("media-token: \(line)\n")
        }
    }

    /// Text on standard error as it is.
    static func writeProgress(_ text: String) {
        // Nobody is left to tell where this fails.
        _ = FileBytes.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

/// Colours of a terminal.
enum Style: String {
    case good = "32"
    case bad = "31"
    case faint = "2"
    case strong = "1"

    func callAsFunction(_ text: String) -> String {
        Console.usesColour ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
