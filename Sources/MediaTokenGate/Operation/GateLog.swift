internal import Files
internal import Glibc
internal import MediaToken
internal import Synchronization
internal import TextEncodings
internal import Threading
internal import Timestamps

/// Writes one JSON line per answer on a separate thread, so that no event loop waits for a disk or a pipe. If the
/// writer falls behind, lines are dropped, and the log reports how many.
package final class GateLog: Sendable {
    /// The most bytes that wait for the writer: some 16,000 lines.
    private static let capacity = 4 << 20
    private static let gatheringMicroseconds: UInt32 = 5000

    private struct State {
        /// The lines that wait for the writer.
        var lines: [UInt8] = []
        var lost = 0
        /// The number of lost lines that the log has not reported yet.
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
    private let every: Int
    /// How many answers there were.
    private let seen = Atomic<Int>(0)

    /// - Parameters:
    ///   - descriptor: The file descriptor that lines are written to.
    ///   - every: One in so many answers is logged; 0 logs none.
    package init(to descriptor: Int32, every: Int) {
        self.descriptor = descriptor
        self.every = every
        // The writer thread keeps this object alive until the log is closed.
        guard every > 0, let writer = ServiceThread({ [self] in write() }) else {
            state.withLock { $0.hasEnded = true }
            return
        }
        // No thread joins the writer, since it may wait for a reader that never comes.
        writer.detach()
    }

    /// The number of lines that were lost.
    var lostLines: Int { state.withLock { $0.lost } }

    /// Counts an answer, and tells whether it gets a line.
    func takesNext() -> Bool {
        every == 1 || every > 1 && seen.add(1, ordering: .relaxed).newValue % every == 0
    }

    /// Makes the lines of those of a group's records that are to be logged, and hands them to the writer.
    func add(_ group: AnswerRecords) {
        guard every > 0 else { return }
        let time = group.time.internetText
        var lines = FlatJSON(capacity: 256 * group.records.count)
        var count = 0
        for record in group.records where record.isLogged {
            record.write(to: &lines, after: group.microseconds, at: time)
            count += 1
        }
        guard count > 0 else { return }
        let bytes = lines.bytes
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

    /// Writes the remaining lines and ends the writer; gives up after `patience`, in case nothing reads the log.
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
            if missing > 0 { lines += Array("{\"dropped\":\(missing)}\n".utf8) }
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

extension AnswerRecord {
    /// Writes the line of the log.
    ///
    /// - Parameters:
    ///   - microseconds: How long the request took.
    ///   - time: When its answer was sent.
    fileprivate func write(to lines: inout FlatJSON, after microseconds: Int?, at time: String) {
        lines.open()
        lines.add("client", client)
        lines.add("code", code)
        if let detail { lines.add("detail", reason: detail) }
        switch place {
        case .endpoint(let endpoint): lines.add("endpoint", constant: endpoint.path)
        case .dialects(let dialects): lines.add("endpoint", dialects.path)
        case nil: break
        }
        if let accepted, accepted.isRetry { lines.add("firstUse", accepted.firstUse.internetText) }
        lines.add("key", accepted?.key ?? grant?.keyID)
        lines.add("microseconds", microseconds)
        lines.add("mvpd", accepted?.claims.mvpd.description)
        lines.add("number", number)
        lines.add("peer", peer)
        if grant?.isRenewed == true { lines.add("renewed", true) }
        lines.add("requestId", requestID)
        lines.add("requestor", requestor.isEmpty ? nil : requestor)
        lines.add("route", route)
        if !isSent { lines.add("sent", false) }
        lines.add("time", time)
        lines.add("token", hexadecimal: (token ?? grant?.token)?.word)
        lines.close()
    }
}

extension FlatJSON {
    /// Adds the reason for an answer, shortened.
    fileprivate mutating func add(_ name: StaticString, reason text: String) {
        var text = text
        var short = ByteWriter(capacity: 256)
        text.withUTF8 { LogReason.write(UnsafeRawBufferPointer($0), to: &short) }
        short.withBytes { add(name, $0) }
    }
}
