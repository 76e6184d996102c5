internal import Files
internal import FoundationEssentials
internal import Glibc
internal import MediaToken
internal import Threading
internal import Timestamps

/// Writes one JSON line per verdict on a separate thread, so that no event loop waits for a disk or a pipe. If the
/// writer falls behind, lines are dropped, and the log reports how many.
///
/// `@unchecked Sendable`: the lock protects everything that changes.
package final class GateLog: @unchecked Sendable {
    private static let capacity = 16_384
    private static let gatheringMicroseconds: UInt32 = 5000

    private let lock = Lock()
    private let arrival = Semaphore()
    private let descriptor: Int32
    private let every: Int
    // The lock protects all properties below.
    private var entries: [LogEntry] = []
    private var lost = 0
    /// The number of lost lines that the log has not reported yet.
    private var untold = 0
    private var seen = 0
    private var isClosed = false
    private var hasEnded = false

    /// - Parameters:
    ///   - descriptor: The file descriptor that lines are written to.
    ///   - every: One in so many verdicts is logged; 0 logs none.
    package init(to descriptor: Int32, every: Int) {
        (self.descriptor, self.every) = (descriptor, every)
        // The writer thread keeps this object alive until the log is closed.
        guard every > 0, let writer = ServiceThread({ [self] in write() }) else {
            hasEnded = true
            return
        }
        // No thread joins the writer, since it may wait for a reader that never comes.
        writer.detach()
    }

    /// The number of lines that were lost.
    var lostLines: Int { lock.withLock { lost } }

    /// Counts lines as lost. The caller holds the lock.
    private func lose(_ count: Int) { (lost, untold) = (lost + count, untold + count) }

    /// Whether any line is written.
    var isOn: Bool { every > 0 }

    /// Hands the records of a group to the writer, or those of them that are to be logged.
    func add(_ group: AnswerRecords) {
        guard every > 0 else { return }
        let isFirst = lock.withLock {
            let wasEmpty = entries.isEmpty
            for record in group.records {
                seen += 1
                guard seen % every == 0 else { continue }
                if entries.count < Self.capacity { entries.append(LogEntry(record, in: group)) } else { lose(1) }
            }
            return wasEmpty && !entries.isEmpty
        }
        if isFirst { arrival.signal() }
    }

    /// Writes the remaining lines and ends the writer; gives up after `patience`, in case nothing reads the log.
    package func close(withinMilliseconds patience: Int) {
        lock.withLock { isClosed = true }
        arrival.signal()
        let end = ContinuousClock.now + .milliseconds(patience)
        while !lock.withLock({ hasEnded }), ContinuousClock.now < end { usleep(1000) }
    }

    private func write() {
        var (clock, lineBreak) = (LogClock(), [UInt8]())
        while true {
            arrival.wait()
            // Records that arrive meanwhile join the batch: waking up for each line would cost more than the verdicts.
            if !lock.withLock({ isClosed }) { usleep(Self.gatheringMicroseconds) }
            let (batch, missing, ends) = lock.withLock { () -> ([LogEntry], Int, Bool) in
                defer { (entries, untold) = ([], 0) }
                return (entries, untold, isClosed)
            }
            var lines = lineBreak
            for entry in batch { lines += entry.line(at: &clock) }
            if missing > 0 { lines += Array("{\"dropped\":\(missing)}\n".utf8) }
            if lines.isEmpty || FileBytes.write(lines, to: descriptor) {
                lineBreak = []
            } else {
                // The next successful write reports the loss. It starts with a line break, as this one may be cut off.
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

/// What a line of the log holds. An entry keeps no more of a token than its line shows, because thousands may wait.
private struct LogEntry: Sendable {
    private let time: Timestamp
    private let microseconds: Int
    private let status: String
    private let requestor, mvpd, key: String?
    private let firstUse: Timestamp?
    private let request: String?
    private let peer: String

    init(_ record: AnswerRecord, in group: AnswerRecords) {
        (time, microseconds, status) = (group.time, group.microseconds, record.status)
        requestor = record.requestor.isEmpty ? nil : record.requestor
        (mvpd, key) = (record.accepted.map { "\($0.claims.mvpd)" }, record.accepted?.key)
        firstUse = record.accepted.flatMap { $0.isRetry ? $0.firstUse : nil }
        (request, peer) = (record.request, record.peer)
    }

    func line(at clock: inout LogClock) -> [UInt8] {
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
        return json.line()
    }
}

/// Formats times as RFC 3339 with milliseconds. Only the first time in each second is expensive.
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
