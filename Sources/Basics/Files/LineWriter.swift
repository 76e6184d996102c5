internal import Glibc

/// Writes lines to a file descriptor on a separate thread, so that no caller waits for a disk, or for a pipe that
/// nobody reads. If the descriptor does not keep up, lines are dropped, and the writer reports how many.
package final class LineWriter: Sendable {
    /// The most bytes that wait for the thread: some 16,000 lines of the log.
    private static let capacity = 4 << 20
    private static let gatheringMicroseconds: UInt32 = 5000

    private struct State {
        /// The lines that wait for the thread.
        var lines: [UInt8] = []
        var lost = 0
        /// The number of lost lines that were not reported yet.
        var untold = 0
        var isClosed = false
        var hasEnded = false

        mutating func lose(_ count: Int) {
            lost += count
            untold += count
        }
    }

    private let state = Guarded(State())
    private let arrival = Semaphore()
    private let descriptor: Int32
    private let report: @Sendable (Int) -> String

    /// - Parameters:
    ///   - descriptor: The file descriptor that lines are written to.
    ///   - report: Makes the line that says how many lines were lost.
    package init(to descriptor: Int32, reportingLoss report: @escaping @Sendable (Int) -> String) {
        (self.descriptor, self.report) = (descriptor, report)
        // The thread keeps this object alive until it is closed.
        guard let thread = ServiceThread({ [self] in write() }) else {
            state.withLock { $0.hasEnded = true }
            return
        }
        // Nobody joins the thread, since it may wait for a reader that never comes.
        thread.detach()
    }

    /// The number of lines that were lost.
    package var lost: Int { state.withLock { $0.lost } }

    /// Hands lines to the thread, each with its line break.
    package func add(_ bytes: [UInt8], lines count: Int = 1) {
        let isFirst = state.withLock { state in
            guard !state.hasEnded, state.lines.count + bytes.count <= Self.capacity else {
                state.lose(count)
                return false
            }
            let wasEmpty = state.lines.isEmpty
            state.lines += bytes
            return wasEmpty
        }
        if isFirst { arrival.signal() }
    }

    /// Writes the remaining lines and ends the thread; gives up after `patience`, in case nothing reads them.
    package func close(withinMilliseconds patience: Int) {
        state.withLock { $0.isClosed = true }
        arrival.signal()
        let end = ContinuousClock.now + .milliseconds(patience)
        while !state.withLock({ $0.hasEnded }), ContinuousClock.now < end { usleep(1000) }
    }

    private func write() {
        var lineBreak: [UInt8] = []
        while true {
            arrival.wait()
            // Lines that arrive meanwhile are written together: waking up for each group would cost more.
            if !state.withLock({ $0.isClosed }) { usleep(Self.gatheringMicroseconds) }
            let (waiting, missing, ends) = state.withLock { state in
                defer { (state.lines, state.untold) = ([], 0) }
                return (state.lines, state.untold, state.isClosed)
            }
            var lines = lineBreak + waiting
            if missing > 0 { lines += Array((report(missing) + "\n").utf8) }
            if lines.isEmpty || FileBytes.write(lines, to: descriptor) {
                lineBreak = []
            } else {
                // The next successful write reports the loss. It starts with a line break, as this one may be cut off.
                let count = waiting.count { $0 == UInt8(ascii: "\n") }
                state.withLock {
                    $0.lose(count)
                    $0.untold += missing
                }
                lineBreak = [UInt8(ascii: "\n")]
            }
            if ends { return state.withLock { $0.hasEnded = true } }
        }
    }
}
