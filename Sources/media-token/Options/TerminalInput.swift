internal import CommandShell
internal import Glibc

/// Reads what a person types or pastes at a terminal, up to Ctrl-D.
///
/// A terminal that collects lines itself keeps at most 4,095 bytes of one, and drops the rest of a longer one, as a
/// token in an answer of Adobe's API is. So lines are collected here.
struct TerminalInput {
    private let descriptor: Int32
    private let keys: TerminalMode.Keys
    /// The line that is being typed.
    private var line: [UInt8] = []
    /// Complete lines that are not returned yet.
    private var ready: [UInt8] = []
    private var isEnded = false

    /// Asks for the input on standard error.
    ///
    /// - Parameter subject: what is read, for the user.
    /// - Returns: `nil` if the descriptor is no terminal.
    init?(_ descriptor: Int32, _ subject: String) {
        guard isatty(descriptor) == 1, let keys = TerminalMode.enter(descriptor) else { return nil }
        (self.descriptor, self.keys) = (descriptor, keys)
        Console.flush()
        Console.writeProgress("paste the \(subject), then Ctrl-D\n")
    }

    /// Puts whole lines into `chunk`, or the last line without its end, and returns how many bytes those are, as
    /// read(2) does: 0 at the end of the input, and a negative number if the terminal fails.
    mutating func read(into chunk: inout [UInt8]) -> Int {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while ready.isEmpty, !isEnded {
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            guard count >= 0 || errno == EINTR else { return count }
            for byte in bytes[..<max(0, count)] where !isEnded { take(byte) }
            if count == 0 { end() }
        }
        let count = min(chunk.count, ready.count)
        chunk.replaceSubrange(..<count, with: ready[..<count])
        ready.removeFirst(count)
        return count
    }

    private mutating func take(_ byte: UInt8) {
        switch byte {
        case keys.end:
            if !line.isEmpty { Console.writeProgress("\n") }
            end()
        case keys.erase, 0x08:
            guard let last = line.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return }
            line.removeSubrange(last...)
            // The terminal has moved its cursor back already for a backspace, and not for a delete.
            Console.writeProgress(byte == 0x08 ? " \u{8}" : "\u{8} \u{8}")
        case keys.kill:
            line = []
            Console.writeProgress("\n")
        case UInt8(ascii: "\n"):
            ready += line + [byte]
            line = []
        default: line.append(byte)
        }
    }

    private mutating func end() {
        (ready, line, isEnded) = (ready + line, [], true)
        TerminalMode.leave()
    }
}

/// The mode of the terminal while lines are collected by the program. It ends with the program, whatever ends that, but
/// for SIGKILL.
private enum TerminalMode {
    /// The keys that the terminal's user has set, which it does not act on in this mode.
    struct Keys {
        let end, erase, kill: UInt8
    }

    // Signal handlers read these. They are set before the handlers are.
    private nonisolated(unsafe) static var terminal: Int32 = -1
    private nonisolated(unsafe) static var usual = termios()
    private nonisolated(unsafe) static var collecting = termios()

    /// Enters the mode; `nil` if the terminal refuses.
    static func enter(_ descriptor: Int32) -> Keys? {
        guard tcgetattr(descriptor, &usual) == 0 else { return nil }
        collecting = usual
        // Without ECHOCTL a key that erases is not shown as ^?.
        collecting.c_lflag &= ~tcflag_t(ICANON | ECHOCTL)
        let keys = withUnsafeMutableBytes(of: &collecting.c_cc) { keys in
            (keys[Int(VMIN)], keys[Int(VTIME)]) = (1, 0)
            return Keys(end: keys[Int(VEOF)], erase: keys[Int(VERASE)], kill: keys[Int(VKILL)])
        }
        terminal = descriptor
        atexit { TerminalMode.leave() }
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] {
            let before = signal(number) { number in
                TerminalMode.leave()
                // It takes effect when this handler returns.
                signal(number, SIG_DFL)
                raise(number)
            }
            // A signal that is ignored, as by nohup, stays so.
            if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
        }
        signal(SIGTSTP) { _ in TerminalMode.suspend() }
        return tcsetattr(descriptor, TCSANOW, &collecting) == 0 ? keys : nil
    }

    /// Stops the process at Ctrl-Z with the terminal as it was, and enters the mode again when the process goes on.
    private static func suspend() {
        let descriptor = terminal
        leave()
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTSTP)
        sigprocmask(SIG_UNBLOCK, &signals, nil)
        signal(SIGTSTP) { _ in TerminalMode.suspend() }
        terminal = descriptor
        if descriptor >= 0 { tcsetattr(descriptor, TCSANOW, &collecting) }
    }

    static func leave() {
        guard terminal >= 0 else { return }
        tcsetattr(terminal, TCSANOW, &usual)
        terminal = -1
    }
}
