internal import Basics
internal import MediaToken
internal import Synchronization

/// Writes one JSON line per answer. No event loop waits for its file; if that does not keep up, lines are dropped, and
/// the log reports how many.
package final class GateLog: Sendable {
    /// `nil` if nothing is logged.
    private let writer: LineWriter?
    /// One in so many answers is logged; 0 logs none.
    private let (allowedEvery, refusedEvery): (Int, Int)
    /// How many answers there were of either kind.
    private let (allowed, refused) = (Count(), Count())

    private final class Count: Sendable {
        private let seen = Atomic<Int>(0)

        func takesNext(of every: Int) -> Bool {
            every == 1 || every > 1 && seen.add(1, ordering: .relaxed).newValue % every == 0
        }
    }

    /// - Parameters:
    ///   - descriptor: The file descriptor that lines are written to.
    ///   - allowedEvery: One in so many answers that allow a request is logged; 0 logs none.
    ///   - refusedEvery: One in so many of the others; 0 logs none.
    package init(to descriptor: Int32, allowedEvery: Int, refusedEvery: Int) {
        (self.allowedEvery, self.refusedEvery) = (allowedEvery, refusedEvery)
        writer = max(allowedEvery, refusedEvery) > 0 ? LineWriter(to: descriptor) { "{\"dropped\":\($0)}" } : nil
    }

    /// The number of lines that were lost.
    var lostLines: Int { writer?.lost ?? 0 }

    /// Counts an answer, and tells whether it gets a line.
    func takesNext(isAllowed: Bool) -> Bool {
        isAllowed ? allowed.takesNext(of: allowedEvery) : refused.takesNext(of: refusedEvery)
    }

    /// Makes the lines of those of a group's records that are to be logged, and hands them to the writer.
    func add(_ group: AnswerRecords) {
        guard let writer else { return }
        let time = group.time.internetText
        var lines = FlatJSON(capacity: 256 * group.records.count)
        var count = 0
        for record in group.records where record.isLogged {
            record.write(to: &lines, after: group.microseconds, at: group.time, time)
            count += 1
        }
        if count > 0 { writer.add(lines.bytes, lines: count) }
    }

    /// Writes the remaining lines; gives up after `patience`, in case nothing reads the log.
    package func close(withinMilliseconds patience: Int) { writer?.close(withinMilliseconds: patience) }
}

extension AnswerRecord {
    /// Writes the line of the log.
    ///
    /// - Parameters:
    ///   - microseconds: How long the request took.
    ///   - time: When its answer was sent.
    ///   - text: That time as the log has it.
    fileprivate func write(
        to lines: inout FlatJSON, after microseconds: Int?, at time: Timestamp, _ text: String
    ) {
        lines.open()
        lines.add("action", (wouldBe ?? code).action?.rawValue)
        lines.add("age", claims.map { time.milliseconds(since: $0.issueTime.timestamp).flooredQuotient(by: 1000) })
        lines.add("app", app)
        lines.add("client", client)
        lines.add("code", code.name)
        lines.add("consumed", code.consumed?.rawValue)
        if let detail { lines.add("detail", reason: detail) }
        switch place {
        case .endpoint(let endpoint): lines.add("endpoint", constant: endpoint.path)
        case .dialects(let dialects): lines.add("endpoint", dialects.path)
        case nil: break
        }
        if let accepted, accepted.isRetry { lines.add("firstUse", accepted.firstUse.internetText) }
        lines.add("key", accepted?.key ?? grant?.keyID)
        lines.add("microseconds", microseconds)
        lines.add("mvpd", claims?.mvpd.description)
        lines.add("number", code.number)
        lines.add("peer", peer)
        if grant?.isRenewed == true { lines.add("renewed", true) }
        lines.add("requestId", requestID)
        lines.add("requestor", requestor.isEmpty ? nil : requestor)
        lines.add("route", route)
        if !isSent { lines.add("sent", false) }
        lines.add("time", text)
        lines.add("token", hexadecimal: (token ?? grant?.token)?.word)
        lines.add("viewer", hexadecimal: viewer)
        lines.add("would_be", wouldBe?.name)
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
