/// The exit status of a command, for scripts. A ``UsageError`` ends the command with 64 (`EX_USAGE`).
package enum ExitStatus: Int32, Comparable {
    case success = 0
    case rejected = 1
    case undecided = 2
    case usage = 64

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A failure other than a usage error, such as a file or key that cannot be read. It ends the command with status 2.
package struct CommandError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// The process may open no more files, sockets or threads.
    package static let noDescriptors = CommandError("no threads or file descriptors left; raise the limit (ulimit -n)")

    /// Does something whose error says all that the user needs.
    ///
    /// - Parameter place: What the message begins with, such as the path of a file.
    package static func wrap<Value>(
        at place: String? = nil, _ work: () throws -> Value
    ) throws(CommandError) -> Value {
        do { return try work() } catch { throw CommandError((place.map { "\($0): " } ?? "") + "\(error)") }
    }

    /// Runs `work`, and prints its failure on standard error.
    package static func report(_ work: () throws(CommandError) -> ExitStatus) -> ExitStatus {
        do {
            return try work()
        } catch {
            Console.printError(error.message)
            return .undecided
        }
    }
}
