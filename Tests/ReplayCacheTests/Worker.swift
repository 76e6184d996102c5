import Glibc
import Foundation
import MediaToken
import TestSupport

/// A running `replay-worker`.
final class Worker {
    private let process = Process()
    private let output = Pipe()

    /// - Parameter now: when it makes its claims.
    init(_ arguments: [String], at now: Timestamp) throws {
        process.executableURL = URL(filePath: Program.beside("replay-worker").executable)
        process.arguments = [String(now.milliseconds)] + arguments
        process.standardOutput = output
        try process.run()
    }

    /// Waits for its end, which must be a good one, and gives what it printed.
    func finish() throws -> String {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Program.Failure(description: "replay-worker ended with \(process.terminationStatus)")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Kills it after `seconds`, and gives the lines that it printed whole.
    func kill(after seconds: Double) throws -> [String] {
        let victim = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { Glibc.kill(victim, SIGKILL) }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
