internal import Glibc
internal import MediaToken

/// An open store: the log that the processes of a host share, and the live tokens of it in the memory of this process.
///
/// A transaction of the log begins by taking over what other processes have appended since. No other process can append
/// until it ends, so a key that this process does not know then has never been claimed.
///
/// Not thread-safe: its owner serialises the calls.
final class LMDBStore {
    /// The largest number of claims in one transaction, so that other processes have their turns.
    static let claimLimit = 1024
    /// The number of entries after which a process ends a transaction in which it takes over what others appended.
    private static let takeOverLimit = 16_384
    /// The number of entries after which a transaction stops to delete records from the beginning of the log.
    private static let tidyLimit = 4096
    /// The number of entries that this process appends before it deletes records from the beginning of the log.
    private static let tidyInterval = 64
    /// The number of entries for which disk is set aside before a transaction writes. A transaction deletes at most
    /// twice (``tidyLimit``), and each entry that it deletes may be appended again, and has its page copied.
    private static let largestTransaction = claimLimit + 4 * tidyLimit

    let catalog: StoreCatalog
    private var log: LogFile?
    private var live = LiveTokens()
    /// This process has taken over the log up to here.
    private var known: LogTransaction.Position = 0
    private var appended = 0
    /// Whether `live` may have tokens that the log does not have, because a transaction that decided claims failed.
    private var isAhead = false
    /// When a transaction last waited for another process in vain, and the error that came of it.
    private var vainWait: (end: ContinuousClock.Instant, error: LMDBError)?
    /// Whether the log was found to have been overwritten.
    private var isLost = false

    private var horizon: Horizon { catalog.horizon }

    /// Opens the log. The caller holds the directory lock.
    init(_ catalog: StoreCatalog) throws(LMDBError) {
        self.catalog = catalog
        log = try catalog.openLog()
        // If there is no disk, the claim that needs it finds out.
        try? log?.setDiskAside(for: Self.largestTransaction)
    }

    /// Takes over the whole log.
    func load() throws(LMDBError) {
        try upToDate { (_) throws(LMDBError) in }
    }

    /// Whether the replay claims that this process has made are in the store that the path leads to now.
    func isCurrent() throws(LMDBError) -> Bool {
        isLost ? false : try catalog.isCurrent()
    }

    /// Ends this process's use of the store; the last user marks the store as closed cleanly.
    func close() throws(LMDBError) {
        log = nil
        try catalog.directory.alone { () throws(LMDBError) in
            // Leaves within the directory lock: a process that waits for that lock can then join at once.
            defer { catalog.directory.leave() }
            try catalog.close()
        }
    }

    // MARK: Claims

    /// Answers the replay claims of a group, in order. If a transaction fails, all its claims get its error, and may or
    /// may not have been recorded.
    ///
    /// - Parameter begin: when the caller asked. If a transaction has waited for another process in vain since then,
    ///   this group has waited for it as well, behind another thread, and gets the same error without a wait of its
    ///   own. `nil` if no transaction may wait; then claims that would have to are not made.
    func claim(
        _ group: [ReplayClaim], fence: Timestamp, at now: Timestamp, since begin: ContinuousClock.Instant?
    ) -> [Result<ReplayAnswer, LMDBError>] {
        stride(from: 0, to: group.count, by: Self.claimLimit).flatMap { first in
            let part = group[first..<min(first + Self.claimLimit, group.count)]
            do throws(LMDBError) {
                if let vainWait, let begin, vainWait.end > begin { throw vainWait.error }
                return try upToDate(waits: begin != nil) { (log) throws(LMDBError) in
                    try self.dropExpired(at: now)
                    return try self.decide(part, fence, now, &log)
                }
            } catch {
                return part.map { _ in .failure(error) }
            }
        }
    }

    /// Decides claims within a transaction. If the log has no room for all of them, only those on used tokens are
    /// answered.
    private func decide(
        _ group: ArraySlice<ReplayClaim>, _ fence: Timestamp, _ now: Timestamp, _ log: inout LogTransaction
    ) throws(LMDBError) -> [Result<ReplayAnswer, LMDBError>] {
        let hasRoom = try makeRoom(for: group.count, in: &log)
        let dropped = horizon.dropped
        var entries: [LogRecord.Entry] = []
        live.touch(group)
        isAhead = true
        let answers = group.map { claim -> Result<ReplayAnswer, LMDBError> in
            guard claim.issued > fence else { return .success(.predatesStore(since: fence)) }
            let bucket = ReplayBucket(expiring: claim.until)
            guard bucket > dropped else { return .success(.predatesStore(since: dropped.end)) }
            guard hasRoom else { return live.use(before: claim).map { .success($0) } ?? .failure(.full) }
            let answer = live.claim(claim, at: now)
            if answer == .first {
                entries.append(
                    LogRecord.Entry(half: claim.key.half, bucket: bucket, use: FingerprintedUse(claim, at: now)))
            }
            return .success(answer)
        }
        try append(entries, to: &log)
        appended += entries.count
        if appended >= Self.tidyInterval {
            try tidy(min(2 * appended, Self.tidyLimit), in: &log)
            appended = 0
        }
        return answers
    }

    private func append(_ entries: [LogRecord.Entry], to log: inout LogTransaction) throws(LMDBError) {
        var record = LogRecord()
        for entry in entries {
            record.append(entry)
            guard record.isFull else { continue }
            try log.append(record)
            record = LogRecord()
        }
        if !record.words.isEmpty { try log.append(record) }
    }

    /// Runs `body` in a transaction in which this process knows all that the log has, and nothing else. Takes over what
    /// is new in steps, so that other processes have their turns.
    private func upToDate<Value>(
        waits: Bool = true, _ body: (inout LogTransaction) throws(LMDBError) -> Value
    ) throws(LMDBError) -> Value {
        guard let log else { throw LMDBError("is closed") }
        if isAhead { (live, known, isAhead) = (LiveTokens(), 0, false) }
        live.drop(through: horizon.dropped)
        while true {
            var end: LogTransaction.Position?
            let value: Value?
            do throws(LMDBError) {
                value = try log.write(patience: waits ? LogFile.patience : .zero) { (transaction) throws(LMDBError) in
                    guard try self.takeOver(from: transaction) else { return nil }
                    let value = try body(&transaction)
                    end = transaction.following
                    return value
                }
            } catch {
                isLost = isLost || error.loss != nil
                if error.isHeldUp, waits { vainWait = (.now, error) }
                throw error
            }
            if let end { (known, isAhead) = (end, false) }
            if let value { return value }
            usleep(50)
        }
    }

    /// Takes over what other processes have appended; `false` if there is more of it.
    private func takeOver(from log: borrowing LogTransaction) throws(LMDBError) -> Bool {
        guard known < log.begin else { return true }
        let cursor = try log.cursor()
        var found = try cursor.move(to: known)
        var count = 0
        while let record = found {
            for entry in record.entries {
                live.insert(entry)
                count += 1
            }
            known = record.position + 1
            guard count < Self.takeOverLimit else { return false }
            found = try cursor.next()
        }
        known = log.begin
        return true
    }

    // MARK: Expiry

    /// Deletes some of what has expired at `now`, in one transaction.
    ///
    /// - Returns: whether all of it is deleted.
    func sweep(at now: Timestamp) throws(LMDBError) -> Bool {
        try upToDate { (log) throws(LMDBError) in
            try self.dropExpired(at: now)
            self.live.sweep()
            return try self.tidy(Self.tidyLimit, in: &log)
        }
    }

    /// Sets disk aside for a transaction, and counts expired buckets as deleted. Called within the transaction, so that
    /// the horizon does not move while another process decides claims.
    private func dropExpired(at now: Timestamp) throws(LMDBError) {
        try log?.setDiskAside(for: Self.largestTransaction)
        horizon.move(to: ReplayBucket(lastPassedAt: now))
        live.drop(through: horizon.dropped)
    }

    /// Whether the log has room for that many more entries, if need be after expired ones were deleted.
    private func makeRoom(for entries: Int, in transaction: inout LogTransaction) throws(LMDBError) -> Bool {
        guard let log, try !log.hasRoom(for: entries, in: transaction) else { return true }
        try tidy(Self.tidyLimit, in: &transaction)
        return try log.hasRoom(for: entries, in: transaction)
    }

    /// Deletes records from the beginning of the log, for as long as all their tokens have expired. Where one that has
    /// not expired keeps many behind it that have, it is moved to the end.
    ///
    /// - Parameter limit: the number of entries after which it stops.
    /// - Returns: whether nothing more can be deleted.
    @discardableResult
    private func tidy(_ limit: Int, in transaction: inout LogTransaction) throws(LMDBError) -> Bool {
        let isSparse = try log?.isSparse(for: live.count, in: transaction) ?? false
        let (dropped, begin) = (horizon.dropped, transaction.begin)
        var (count, moved) = (0, [LogRecord.Entry]())
        do {
            let cursor = try transaction.cursor()
            while count < limit {
                guard let found = try cursor.next(), found.position < begin else { break }
                let alive = found.entries.filter { $0.bucket > dropped }
                guard alive.isEmpty || isSparse else { break }
                count += found.entries.count
                moved += alive
                try cursor.delete()
            }
        }
        try append(moved, to: &transaction)
        return count < limit
    }

    // MARK: Status

    /// What a claim would find now, without making it.
    func find(_ question: ReplayQuestion, fence: Timestamp, at now: Timestamp) throws(LMDBError) -> ReplayLookupResult {
        try upToDate { (_) throws(LMDBError) in
            let bucket = ReplayBucket(expiring: question.until)
            let dropped = max(self.horizon.dropped, ReplayBucket(lastPassedAt: now))
            let use: ReplayLookupResult.Use =
                if question.issued <= fence {
                    .predatesStore(since: fence)
                } else if bucket <= dropped {
                    .forgotten
                } else {
                    self.live.find(question)
                }
            return ReplayLookupResult(use, keptUntil: bucket.passed)
        }
    }

    /// The number of tokens in each bucket.
    func counts() throws(LMDBError) -> [(bucket: ReplayBucket, entries: Int)] {
        try upToDate { (_) throws(LMDBError) in self.live.counts.map { ($0.key, $0.value) } }
    }

    /// The disk space in bytes that the log takes.
    var bytes: Int { catalog.directory.bytes(of: StoreDirectory.logName) }
}
