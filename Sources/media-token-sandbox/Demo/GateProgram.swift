internal import Basics
internal import CommandShell
internal import Glibc

/// A gate in a process of its own: the program `media-token`, which stands beside this one.
final class GateProgram {
    /// The port on the loopback where the gate answers.
    let port: UInt16
    private let process: pid_t

    private static let patience = 100

    /// Starts the gate, and waits until it serves.
    ///
    /// - Parameters:
    ///   - program: The path of `media-token`.
    ///   - settings: The path of its configuration, which names no addresses.
    ///   - log: A file for what it says.
    init(_ program: String, settings: String, log: String) throws(CommandError) {
        let words = [program, "serve", "--config", settings, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        let output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw CommandError("\(log): \(String(cString: strerror(errno)))") }
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [output, nothing] { close(descriptor) } }
        do { process = try ChildProcess.start(words, output: nothing, errors: output) } catch {
            throw CommandError("\(program): \(error.reason)")
        }
        Self.started = process
        // The program also exits when its output can no longer be written, and frees no object then.
        atexit { if GateProgram.started > 0 { kill(GateProgram.started, SIGTERM) } }
        for _ in 0..<Self.patience {
            let hasEnded = waitpid(process, nil, WNOHANG) != 0
            let said = (try? FileBytes.read(log, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let line = said.split(separator: "\n").first { $0.contains(": serving on 127.0.0.1:") }
            if let port = line.flatMap({ $0.split(separator: ":").last }).flatMap({ UInt16($0) }) {
                self.port = port
                return
            }
            guard !hasEnded else {
                Self.started = 0
                throw CommandError("the gate ended: \(said.split(separator: "\n").last ?? "it said nothing")")
            }
            usleep(100_000)
        }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        Self.started = 0
        throw CommandError("\(program): the gate did not serve within \(Self.patience / 10) s")
    }

    /// The gate ends with this object.
    deinit {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
        Self.started = 0
    }

    // Used by the main thread only.
    private nonisolated(unsafe) static var started: pid_t = 0
}
