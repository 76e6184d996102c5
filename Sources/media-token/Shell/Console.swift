internal import Files
internal import Glibc

/// Writes to standard output and standard error.
enum Console {
    /// Whether standard output is a terminal and the user has not asked for plain text (https://no-color.org).
    static let usesColour = isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    /// Whether a person sees standard error, so that progress is worth showing.
    static let showsProgress = isatty(STDERR_FILENO) == 1

    // Only the main thread prints, so no lock is needed.
    private nonisolated(unsafe) static var pending: [UInt8] = []
    private static let flushThreshold = 1 << 16

    /// Prints a line on standard output. Lines are buffered until 64 KiB are pending or ``flush()`` is called.
    static func print(_ line: String) {
        pending += Array(line.utf8) + [UInt8(ascii: "\n")]
        if pending.count >= flushThreshold { flush() }
    }

    /// Writes out the buffered lines. If that fails, the program ends, because its reader would miss a part.
    static func flush() {
        defer { pending = [] }
        guard !FileBytes.write(pending, to: STDOUT_FILENO) else { return }
        writeProgress("media-token: standard output: \(String(cString: strerror(errno)))\n")
        exit(ExitStatus.undecided.rawValue)
    }

    /// Prints a message on standard error, after the program's name, once all buffered lines are written.
    static func printError(_ message: String) {
        flush()
        for line in message.split(separator: "\n") {
            writeProgress("media-token: \(line)\n")
        }
    }

    /// Writes text to standard error, unchanged.
    static func writeProgress(_ text: String) {
        // A failure is ignored, because there is nowhere else to report it.
        _ = FileBytes.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

/// The styles of text on a terminal.
enum Style: String {
    case good = "32"
    case bad = "31"
    case faint = "2"
    case strong = "1"

    func callAsFunction(_ text: String) -> String {
        Console.usesColour ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
