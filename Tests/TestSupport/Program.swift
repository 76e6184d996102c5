package import Foundation
import Glibc

/// Runs a program to its end.
package struct Program {
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package let executable: String

    /// - Parameter executable: a path, or a name to be looked for in `PATH`.
    package init(_ executable: String) {
        self.executable = executable
    }

    /// A program that was built with the tests: it lies beside the test program.
    package static func beside(_ name: String) -> Program {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return Program(tests.deletingLastPathComponent().appending(path: name).path)
    }

    /// Whether programs run under a sanitizer; `.ci/sanitizers` says so by this.
    package static let isSanitized = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil
    /// How many times as long something may take.
    package static let slowness = isSanitized ? 8 : 1
    /// How long tests wait for an event. Only a fault takes so long, however busy the machine is.
    package static let patience = Duration.seconds(60 * slowness)

    /// Waits until `holds`, for as long as ``patience`` at most.
    ///
    /// - Returns: Whether it holds.
    package static func wait(until holds: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + patience
        while try !holds() {
            guard ContinuousClock.now < end else { return false }
            usleep(20_000)
        }
        return true
    }

    /// The processor time that `body` takes of this thread, in which the machine's other work does not count.
    package static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let begin = now()
        try body()
        return now() - begin
    }

    package static let mediaToken = beside("media-token")
    package static let sandbox = beside("media-token-sandbox")

    /// Standard output and error go through files, so no pipe can fill up and stall the program.
    @discardableResult
    package func run(
        _ arguments: [String], input: Data = Data(), environment: [String: String] = [:]
    ) throws -> Outcome {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [executable] + arguments
        // Thread Sanitizer takes a process that ends from within for a fault of its own bookkeeping.
        let sanitizer = ["TSAN_OPTIONS": "ignore_interceptors_accesses=0"]
        process.environment = ProcessInfo.processInfo.environment.merging(sanitizer) { $1 }.merging(environment) { $1 }
        let inputFile = try directory.write(input, to: "input")
        let (outputFile, errorFile) = (try directory.write("", to: "output"), try directory.write("", to: "errors"))
        process.standardInput = FileHandle(forReadingAtPath: inputFile)
        process.standardOutput = FileHandle(forWritingAtPath: outputFile)
        process.standardError = FileHandle(forWritingAtPath: errorFile)
        try process.start()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOfFile: outputFile, encoding: .utf8),
            errors: try String(contentsOfFile: errorFile, encoding: .utf8))
    }

    /// Runs the program under valgrind, without its debug information: Debian 12's valgrind cannot read that of clang's
    /// C.
    package func underValgrind(
        _ options: [String], _ arguments: [String], input: Data, environment: [String: String] = [:]
    ) throws -> Outcome {
        let directory = try TemporaryDirectory()
        let stripped = directory.path + "/program"
        try Program("objcopy").succeed(["--strip-debug", executable, stripped])
        return try Program("valgrind").run(options + [stripped] + arguments, input: input, environment: environment)
    }

    /// Runs a command as root, with `sudo` if the tests have another user; it has to succeed.
    package static func asRoot(_ command: String...) throws { try asRoot(command) }

    /// Runs a command as root, as ``asRoot(_:)`` does with its words.
    package static func asRoot(_ command: [String]) throws {
        try Program(geteuid() == 0 ? "env" : "sudo").succeed(command)
    }

    /// Runs the program, and throws if it ends with another status than 0.
    @discardableResult
    package func succeed(_ arguments: [String], input: Data = Data()) throws -> String {
        let outcome = try run(arguments, input: input)
        guard outcome.status == 0 else {
            throw Failure(description: "\(executable) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome.output
    }
}
