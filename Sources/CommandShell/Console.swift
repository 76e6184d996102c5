internal import Basics
internal import Glibc

/// Writes to standard output and standard error.
package enum Console {
    /// Whether standard output is a terminal and the user has not asked for plain text (https://no-color.org).
    package static let usesColour = isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    /// Whether a person sees standard error, so that progress is worth showing.
    package static let showsProgress = isatty(STDERR_FILENO) == 1

    /// The name of the program, which each message begins with.
    package static let program =
        (CommandLine.arguments.first ?? "").split(separator: "/").last.map(String.init) ?? "media-token"

    private static let pending = Guarded<[UInt8]>([])
    private static let flushThreshold = 1 << 16

    /// Prints a line on standard output. Lines are buffered until 64 KiB are pending or ``flush()`` is called.
    package static func print(_ line: String) {
        let isFull = pending.withLock { pending in
            pending += Array(line.utf8) + [UInt8(ascii: "\n")]
            return pending.count >= flushThreshold
        }
        if isFull { flush() }
    }

    /// Prints a line for people. On a terminal that is narrower than the line, its rest goes on below `column`.
    package static func print(_ line: String, hanging column: Int) {
        print(terminalWidth.map { LineWrap(width: $0, hanging: column).wrapped(line) } ?? line)
    }

    /// The columns for a text that has to fit: those of the terminal, of `COLUMNS`, or 80.
    package static var width: Int {
        terminalWidth ?? getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// The columns of the terminal that shows standard output; `nil` if it is no terminal, or does not say.
    private static let terminalWidth: Int? = {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }()

    /// Writes out the buffered lines. If that fails, the program ends, because its reader would miss a part.
    package static func flush() {
        let lines = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        guard !FileBytes.write(lines, to: STDOUT_FILENO) else { return }
        writeProgress("\(program): standard output: \(String(cString: strerror(errno)))\n")
        exit(ExitStatus.undecided.rawValue)
    }

    /// How grave a message is, by the numbers of syslog(3), by which `journalctl -p` chooses.
    package enum Gravity: Int {
        case error = 3
        case warning, notice
    }

    /// Whether the journal gets standard error, and so the gravity of a line from its beginning (sd-daemon(3)).
    private static let isJournal = {
        var status = Glibc.stat()
        guard fstat(STDERR_FILENO, &status) == 0, let stream = getenv("JOURNAL_STREAM") else { return false }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }()

    /// Prints a message on standard error, after the name of the program or command, once all buffered lines are
    /// written. A token in the message is cut, since a user may have given one in the place of a file name or a URL,
    /// which messages repeat.
    package static func printError(
        _ message: String, from name: String = program, as gravity: Gravity = .error
    ) {
        flush()
        for (number, line) in withoutLogins(withoutTokens(withoutLongWords(message))).split(separator: "\n")
            .enumerated()
        {
            // A line break in a file's name must not begin a message of its own.
            let text = printable(String(line), limit: .max)
            writeProgress("\(isJournal ? "<\(gravity.rawValue)>" : "")\(name): \(number > 0 ? "  " : "")\(text)\n")
        }
    }

    /// Prints a message that says so of itself, since what it is about goes on.
    package static func printWarning(_ message: String) { printError("warning: \(message)", as: .warning) }

    /// Prints what a service does, for its operator.
    package static func printNotice(_ message: String) { printError(message, as: .notice) }

    private static let longestWord = 160
    private static let shownOfLongWord = 40

    /// A message with the beginnings of its long words only, which are longer for a path. Every encoding of a token
    /// contains a word of at least 172 characters, its signature, and the session's GUID follows that.
    private static func withoutLongWords(_ message: String) -> String {
        let lines = message.split(separator: "\n").map { line in
            line.split(separator: " ", omittingEmptySubsequences: false).map { word in
                guard word.utf8.count > longestWord else { return String(word) }
                return word.prefix(word.hasPrefix("/") || word.hasPrefix("'/") ? longestWord : shownOfLongWord) + "…"
            }.joined(separator: " ")
        }
        return lines.joined(separator: "\n")
    }

    /// A message with the beginnings of its tokens only. A message that names the first tag alone stays whole.
    private static func withoutTokens(_ message: String) -> String {
        var (kept, rest) = ("", message[...])
        while let beginning = firstBeginning(rest) {
            kept += rest[..<beginning.upperBound]
            rest = rest[beginning.upperBound...]
            // A signature follows, 172 characters or more without a space.
            guard rest.utf8.prefix(16).count(where: { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "'") }) == 16
            else {
                continue
            }
            // Only clear text has spaces inside, and ends with the name of its element.
            let last = rest[..<(firstBeginning(rest)?.lowerBound ?? rest.endIndex)].ranges(of: "Token>").last
            let end = rest[(last?.upperBound ?? rest.startIndex)...].firstIndex { " ':".contains($0) } ?? rest.endIndex
            kept += "…"
            rest = rest[end...]
        }
        return kept + rest
    }

    /// A message whose URLs have no user and no password.
    private static func withoutLogins(_ message: String) -> String {
        var (kept, rest) = ("", message[...])
        while let scheme = rest.firstRange(of: "://") {
            kept += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let authority = rest.prefix { !" '\n".contains($0) }
            guard let mark = authority.lastIndex(of: "@") else { continue }
            kept += "…"
            rest = rest[mark...]
        }
        return kept + rest
    }

    private static func firstBeginning(_ text: Substring) -> Range<Substring.Index>? {
        TokenBeginning.all.compactMap { text.firstRange(of: $0) }.min { $0.lowerBound < $1.lowerBound }
    }

    /// Writes text to standard error, unchanged.
    package static func writeProgress(_ text: String) {
        guard let writer else {
            // A failure is ignored, because there is nowhere else to report it.
            _ = FileBytes.write(Array(text.utf8), to: STDERR_FILENO)
            return
        }
        writer.add(Array(text.utf8))
    }

    private nonisolated(unsafe) static var writer: LineWriter?

    /// Has messages written by a thread of their own from now on: a service must reload and stop also while nobody
    /// reads its messages.
    package static func writeMessagesAside() {
        writer = LineWriter(to: STDERR_FILENO) { "\(program): \($0) messages were lost, since nobody read them" }
    }

    /// Writes out all that is pending, before the program ends.
    package static func finish() {
        flush()
        writer?.close(withinMilliseconds: 1000)
    }
}

/// The styles of text on a terminal.
package enum Style: String {
    case good = "32"
    case bad = "31"
    /// Orange, or what a terminal takes for it.
    case doubt = "33"
    case faint = "2"
    case strong = "1"

    package func callAsFunction(_ text: String) -> String {
        Console.usesColour ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
