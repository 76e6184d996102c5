import Basics
package import Foundation

extension Process {
    private static let starting = Lock()

    /// Starts the program while no other one is started.
    ///
    /// Foundation learns of a process's end by a socket that closes with it. A program that another thread started
    /// meanwhile would inherit that socket, and `waitUntilExit()` would then return only once that program has ended
    /// too.
    package func start() throws { try Self.starting.withLock { try run() } }
}
