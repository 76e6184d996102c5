import Basics
import Foundation
import Glibc

/// A program that runs beside a test, and ends with it: by its process ID, and at the latest when the tests end.
package final class Daemon {
    private let process = Process()
    /// The file for what it prints.
    package let log: String

    /// - Parameters:
    ///   - program: a path, or a name to be looked for in `PATH`.
    ///   - log: a file for what it prints.
    package init(_ program: String, _ arguments: [String], log: String) throws {
        self.log = log
        try Data().write(to: URL(filePath: log))
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = FileHandle(forWritingAtPath: log)
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, output)
        try process.start()
        LeftOver.processes.add(process.processIdentifier)
    }

    deinit { end(SIGKILL) }

    package var identifier: Int32 { process.processIdentifier }

    /// What it has printed.
    package func printed() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

    package func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Sends the signal after a delay, from a thread of its own.
    package func signal(_ number: Int32, afterMilliseconds milliseconds: Int) {
        let identifier = process.processIdentifier
        // A thread of its own: a queue's are busy with other tests, and would signal when it is too late.
        Thread.detachNewThread {
            usleep(UInt32(milliseconds) * 1000)
            kill(identifier, number)
        }
    }

    /// Sends a signal that ends it, and waits for that.
    package func end(_ number: Int32 = SIGTERM) {
        guard process.isRunning else { return }
        // A stopped process takes no other signal.
        if number != SIGKILL { signal(SIGCONT) }
        signal(number)
        process.waitUntilExit()
        LeftOver.processes.remove(process.processIdentifier)
    }

    /// Waits until `isReady`; a program that ends before, or is not ready in ``Program/patience``, is an error with
    /// what it printed.
    package func wait(until isReady: () throws -> Bool) throws {
        var hasEnded = false
        let isOver = try Program.wait {
            hasEnded = !process.isRunning
            return try hasEnded || isReady()
        }
        if isOver, !hasEnded { return }
        throw Program.Failure(
            description: "\(process.arguments ?? []) is not ready: \(((try? printed()) ?? "").suffix(500))")
    }
}

/// Processes that are to be gone when the tests are.
private final class LeftOver: Sendable {
    static let processes = LeftOver()

    private let lock = Lock()
    /// `nonisolated(unsafe)`: threads use it under the lock, and the handler below at exit, when no test runs.
    private nonisolated(unsafe) var identifiers: Set<pid_t> = []

    private init() {
        atexit { LeftOver.processes.identifiers.forEach { kill($0, SIGKILL) } }
    }

    func add(_ identifier: pid_t) { _ = lock.withLock { identifiers.insert(identifier) } }

    func remove(_ identifier: pid_t) { _ = lock.withLock { identifiers.remove(identifier) } }
}

/// Ports for the servers of tests.
package enum FreePort {
    /// Below those that the kernel gives to clients, so that none of them takes one between its check and its use.
    private static let range = 12_000..<32_000
    private static let next = Guarded(Int.random(in: range))

    /// Ports of the loopback interface that nobody listens on, and that no other caller of this process gets.
    package static func take(_ count: Int) throws -> [Int] {
        try (0..<count).map { _ in
            for _ in range {
                let port = next.withLock { next in
                    next = range.contains(next + 1) ? next + 1 : range.lowerBound
                    return next
                }
                if isFree(port) { return port }
            }
            throw Program.Failure(description: "no free port between \(range.lowerBound) and \(range.upperBound)")
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        return loopback(port) { bind(socket, $0, $1) } == 0
    }
}
