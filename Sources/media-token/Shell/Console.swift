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

    /// Prints a message on standard error, after the name of the program or command, once all buffered lines are written. A token
    /// in the message is cut, since a user may have given one in the place of a file name or a URL, which messages repeat.
    static func printError(_ message: String, from name: String = "media-token") {
        flush()
        for line in withoutTokens(message).split(separator: "\n") {
            writeProgress("\(name): \(line)\n")
        }
    }

    /// The beginnings of tokens: clear text, and its usual encodings.
    private static let tokenBeginnings = [
        "<signatureInfo>", "PHNpZ25hdHVyZUluZm8", "%3CsignatureInfo", "%3csignatureInfo",
    ]

    /// A message with the beginnings of its tokens only.
    private static func withoutTokens(_ message: String) -> String {
        var message = message
        for beginning in tokenBeginnings {
            guard let found = message.firstRange(of: beginning) else { continue }
            // Only clear text has spaces inside.
            let end = message[found.upperBound...].ranges(of: "Token>").last?.upperBound ?? found.upperBound
            let next = message[end...].firstIndex { " ':".contains($0) } ?? message.endIndex
            message.replaceSubrange(found.upperBound..<next, with: "…")
        }
        return message
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
