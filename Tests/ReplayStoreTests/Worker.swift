import Basics
import Foundation
import Glibc
import TestSupport

/// A running `replay-worker`.
final class Worker {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var hasEnded = false

    /// - Parameter now: when it makes its claims.
    init(_ arguments: [String], at now: Timestamp) throws {
        process.executableURL = URL(filePath: Program.beside("replay-worker").executable)
        process.arguments = [String(now.milliseconds)] + arguments
        (process.standardInput, process.standardOutput) = (input, output)
        try process.start()
    }

    /// Kills a worker that is left.
    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    }

    /// Tells it a line, and gives the one that it answers; an empty one where that has ended it.
    func ask(_ line: String) throws -> String {
        // Nobody reads what is written then, which would end this process too.
        guard !hasEnded else { return "" }
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        let answer = readLine()
        hasEnded = answer.isEmpty
        return answer
    }

    /// A line of its output.
    func readLine() -> String {
        var line: [UInt8] = []
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for its end, which must be a good one, and gives what it printed.
    func finish() throws -> String {
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Program.Failure(description: "replay-worker ended with \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Kills the worker, and gives the lines that it printed whole.
    ///
    /// - Parameters:
    ///   - milliseconds: how long the worker lives on.
    ///   - count: how many lines it has printed by then at least, however slow its store is.
    func kill(_ milliseconds: Int, afterLines count: Int) throws -> [String] {
        let first = (0..<count).map { _ in readLine() }
        let victim = process.processIdentifier
        // A thread of its own: a queue's may be busy with other tests.
        Thread.detachNewThread {
            usleep(UInt32(milliseconds) * 1000)
            Glibc.kill(victim, SIGKILL)
        }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        return first + text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
