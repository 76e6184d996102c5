internal import Basics
internal import Glibc
internal import MediaToken

/// A running worker, in a process group of its own: should this process die, the kernel hangs up a worker that is
/// stopped (SIGHUP, SIGCONT), and one that runs ends with its next line.
///
/// Whatever becomes of the check, the worker is killed and waited for when its owner gives it up.
final class WorkerProcess {
    /// How long a worker may take for what is expected of it, on however busy a machine.
    private static let patience = Duration.seconds(300)

    private let process: pid_t
    private let output: Int32
    private var buffer: [UInt8] = []
    private var hasClosed = false
    private var status: Int32?

    /// Starts a worker.
    ///
    /// - Throws: ``ReplayStoreViolation`` if the program cannot be started.
    init(_ command: ReplayStoreWorker.Command, _ work: ReplayStoreWorker.Work) throws(ReplayStoreViolation) {
        var ends: [Int32] = [0, 0]
        // A socket pair, because unlike a pipe it can be made such that no other child inherits it.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ReplayStoreViolation(expected: "a socket pair", found: String(cString: strerror(errno)))
        }
        output = ends[0]
        defer { close(ends[1]) }
        do {
            let words = [command.executable] + command.arguments + work.arguments
            process = try ChildProcess.start(words, output: ends[1])
        } catch {
            close(ends[0])
            throw ReplayStoreViolation(expected: "the worker \(command.executable) to start", found: error.reason)
        }
    }

    deinit {
        end()
        close(output)
    }

    // MARK: Output

    /// Waits for `count` lines; fewer if the worker ends before.
    func lines(_ count: Int) throws(ReplayStoreViolation) -> [String] {
        let end = ContinuousClock.now + Self.patience
        var lines: [String] = []
        while lines.count < count {
            if let line = nextLine() {
                lines.append(line)
            } else if hasClosed {
                break
            } else {
                try read(until: end)
            }
        }
        return lines
    }

    /// Waits for the time to pass, and returns the whole lines that have come by then.
    func lines(within time: Duration) throws(ReplayStoreViolation) -> [String] {
        let end = ContinuousClock.now + time
        // Ends by the clock. If a line ended it, a worker would be stopped or killed after claims only, never in one.
        while !hasClosed, end - .now >= .milliseconds(1) { _ = receive(until: end) }
        usleep(UInt32(max(0, (end - .now) / .microseconds(1))))
        // When the time is over, output that has already arrived is still read.
        while !hasClosed, receive(until: end) {}
        return wholeLines()
    }

    /// Waits for the worker to end by itself, and returns the lines that are left.
    func finish() throws(ReplayStoreViolation) -> [String] {
        let end = ContinuousClock.now + Self.patience
        while !hasClosed { try read(until: end) }
        let status = wait()
        guard status == 0 else {
            throw ReplayStoreViolation(
                expected: "a worker that ends well", found: "wait status \(status), after \(wholeLines().suffix(1))")
        }
        return wholeLines()
    }

    private func read(until end: ContinuousClock.Instant) throws(ReplayStoreViolation) {
        while !receive(until: end), !hasClosed {
            guard ContinuousClock.now < end else {
                throw ReplayStoreViolation(
                    expected: "a line of the worker within \(Self.patience)", found: "none")
            }
        }
    }

    /// Waits for output until `end`, for less than a millisecond less; `false` if there is none.
    private func receive(until end: ContinuousClock.Instant) -> Bool {
        let left = (end - .now) / .milliseconds(1)
        var readiness = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&readiness, 1, Int32(max(0, left))) > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(output, &bytes, bytes.count, 0)
        if count > 0 { buffer += bytes[..<count] }
        hasClosed = count == 0 || count < 0 && errno != EINTR
        return count > 0
    }

    private func nextLine() -> String? {
        guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
    }

    private func wholeLines() -> [String] {
        guard let end = buffer.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    // MARK: Signals

    /// Stops the worker, and waits until the kernel reports that it has stopped.
    func stop() {
        guard status == nil else { return }
        kill(process, SIGSTOP)
        var state: Int32 = 0
        guard waitpid(process, &state, WUNTRACED) == process else { return }
        // The low byte of a stopped process is 0x7F; with any other it has ended instead.
        if state & 0xFF != 0x7F { status = state }
    }

    /// Lets the worker go on.
    func proceed() {
        if status == nil { kill(process, SIGCONT) }
    }

    /// Kills the worker, whether it runs or is stopped, and returns the whole lines that it had printed.
    func killed() throws(ReplayStoreViolation) -> [String] {
        end()
        let patience = ContinuousClock.now + Self.patience
        while !hasClosed { try read(until: patience) }
        return wholeLines()
    }

    private func end() {
        if status == nil { kill(process, SIGKILL) }
        _ = wait()
    }

    @discardableResult
    private func wait() -> Int32 {
        if let status { return status }
        var state: Int32 = 0
        while waitpid(process, &state, 0) < 0, errno == EINTR {}
        status = state
        return state
    }
}
