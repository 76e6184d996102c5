internal import Files
internal import FoundationEssentials
internal import Glibc
internal import Threading
package import Timestamps

/// One JSON line a verdict, written by a thread of its own: whoever decides never waits for a disk or a pipe. What the writer
/// cannot keep up with is dropped, counted, and told.
///
/// A line never holds a token, a session GUID or what a header said, but for the request's own ID. `@unchecked Sendable`: what
/// changes is touched under the lock only.
package final class GateLog: @unchecked Sendable {
    /// What is told of a verdict.
    package struct Entry: Sendable {
        package var time: Timestamp
        package var status: String
        package var requestor: String?
        package var mvpd: String?
        package var key: String?
        package var microseconds: Int
        package var request: String?
        package var peer: String
        /// Of a token whose user asks again.
        package var firstUse: Timestamp?

        fileprivate func line(at clock: inout LogClock) -> [UInt8] {
            var json = FlatJSON()
            json.add("firstUse", firstUse.map { clock.text(of: $0) })
            json.add("key", key)
            json.add("microseconds", microseconds)
            json.add("mvpd", mvpd)
            json.add("peer", peer)
            json.add("request", request)
            json.add("requestor", requestor)
            json.add("status", status)
            json.add("time", clock.text(of: time))
            return json.line
        }
    }

    private static let capacity = 16_384
    private static let gatheringMicroseconds: UInt32 = 5000

    private let lock = Lock()
    private let arrival = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let descriptor: Int32
    private let every: Int
    // Under the lock, all of them.
    private var entries: [Entry] = []
    private var lost = 0
    /// Of those that are lost, how many the log has not told of yet.
    private var untold = 0
    private var seen = 0
    private var isClosed = false
    private var hasEnded = false

    /// - Parameters:
    ///   - descriptor: where lines go.
    ///   - every: of how many verdicts one is logged; 0 for none.
    package init(to descriptor: Int32, every: Int) {
        (self.descriptor, self.every) = (descriptor, every)
        sem_init(arrival, 0, 0)
        // The thread holds this object until it is closed.
        guard every > 0, let writer = ServiceThread({ [self] in write() }) else {
            hasEnded = true
            return
        }
        // Nobody joins it: it may wait for a reader that never comes.
        writer.detach()
    }

    deinit {
        sem_destroy(arrival)
        arrival.deallocate()
    }

    /// Lines that are lost.
    var lostLines: Int { lock.withLock { lost } }

    /// Under the lock.
    private func lose(_ count: Int) { (lost, untold) = (lost + count, untold + count) }

    package func add(_ entry: @autoclosure () -> Entry) {
        guard every > 0 else { return }
        let isWanted = lock.withLock { () -> Bool in
            seen += 1
            if seen % every != 0 { return false }
            if entries.count >= Self.capacity { lose(1) }
            return entries.count < Self.capacity
        }
        guard isWanted else { return }
        let entry = entry()
        let isFirst = lock.withLock {
            entries.append(entry)
            return entries.count == 1
        }
        if isFirst { sem_post(arrival) }
    }

    /// Writes what is left and ends the writer; gives up after `patience`, should nobody read what is written.
    package func close(withinMilliseconds patience: Int) {
        lock.withLock { isClosed = true }
        sem_post(arrival)
        let end = ContinuousClock.now + .milliseconds(patience)
        while !lock.withLock({ hasEnded }), ContinuousClock.now < end { usleep(1000) }
    }

    private func write() {
        var (clock, lineBreak) = (LogClock(), [UInt8]())
        while true {
            while sem_wait(arrival) != 0, errno == EINTR {}
            // What comes meanwhile is written with it. Waking up for each line would cost more than the verdicts.
            if !lock.withLock({ isClosed }) { usleep(Self.gatheringMicroseconds) }
            let (batch, missing, ends) = lock.withLock { () -> ([Entry], Int, Bool) in
                defer { (entries, untold) = ([], 0) }
                return (entries, untold, isClosed)
            }
            var lines = lineBreak
            for entry in batch { lines += entry.line(at: &clock) }
            if missing > 0 { lines += Array("{\"dropped\":\(missing)}\n".utf8) }
            if lines.isEmpty || FileBytes.write(lines, to: descriptor) {
                lineBreak = []
            } else {
                // Told with the next line that can be written, which begins on a line of its own.
                lock.withLock {
                    lose(batch.count)
                    untold += missing
                }
                lineBreak = [UInt8(ascii: "\n")]
            }
            if ends { return lock.withLock { hasEnded = true } }
        }
    }
}

/// Writes times as RFC 3339 has them, to the millisecond. Only the first of a second costs something.
private struct LogClock {
    private var second: Int64 = .min
    private var prefix: Substring = ""

    mutating func text(of time: Timestamp) -> String {
        let second = time.milliseconds / 1000
        if second != self.second {
            self.second = second
            prefix = Date(timeIntervalSince1970: Double(second)).ISO8601Format().dropLast()
        }
        let fraction = String(time.milliseconds % 1000)
        return "\(prefix).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)Z"
    }
}
