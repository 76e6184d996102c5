internal import CLMDB
internal import MediaToken

/// The buckets of a store: one LMDB database for each minute of expiry, numbered like it.
///
/// Not thread-safe: the store serialises the calls.
final class LMDBBuckets {
    /// Up to which bucket everything was dropped.
    private static let droppedName: StaticString = "dropped"
    /// What dropping buckets may add to a full map. It has to write down which pages became free before they are.
    private static let slack = 1 << 20

    private let environment: LMDBEnvironment
    private let sizeLimit: Int
    /// As far as this process knows; another may have dropped more.
    private var knownDropped = ReplayBucket(index: .min)

    init(directory: String, initialSize: Int, sizeLimit: Int) throws(LMDBError) {
        self.sizeLimit = sizeLimit
        environment = try LMDBEnvironment(
            directory: directory, mapSize: min(initialSize, sizeLimit), reserve: Self.slack)
    }

    /// Bytes on the disk.
    var size: Int { environment.mapSize }

    func claim(_ group: [ReplayClaim], fence: Timestamp, at now: Timestamp) throws(LMDBError) -> [ReplayAnswer] {
        try sweep(at: now)
        let (answers, dropped) = try growing(upTo: sizeLimit) { (transaction) throws(LMDBError) in
            let dropped = try Self.dropped(transaction)
            var answers: [ReplayAnswer] = []
            answers.reserveCapacity(group.count)
            for claim in group {
                answers.append(try Self.decide(claim, fence: fence, dropped: dropped, transaction))
            }
            return (answers, dropped)
        }
        note(dropped)
        return answers
    }

    private static func decide(
        _ claim: ReplayClaim, fence: Timestamp, dropped: ReplayBucket, _ transaction: LMDBTransaction
    ) throws(LMDBError) -> ReplayAnswer {
        guard claim.issued > fence else { return .predatesStore(since: fence) }
        let bucket = ReplayBucket(expiring: claim.until)
        guard bucket > dropped else { return .predatesStore(since: dropped.end) }
        return try transaction.insert(claim.key.half, into: bucket.index) ? .first : .alreadyUsed
    }

    /// Drops the buckets that have passed at `now`, in a transaction of its own: one that also claims could find the map
    /// full, and then undo the very thing that makes room.
    func sweep(at now: Timestamp) throws(LMDBError) {
        let lastPassed = ReplayBucket(lastPassedAt: now)
        guard lastPassed > knownDropped else { return }
        let dropped = try growing(upTo: sizeLimit + Self.slack) { (transaction) throws(LMDBError) in
            let before = try Self.dropped(transaction)
            guard lastPassed > before else { return before }
            for number in try transaction.databases() where number <= lastPassed.index {
                try transaction.drop(number)
            }
            try transaction.store(lastPassed.index, under: Self.droppedName)
            return lastPassed
        }
        try environment.shrink(to: sizeLimit)
        note(dropped)
    }

    private func note(_ dropped: ReplayBucket) {
        guard dropped > knownDropped else { return }
        knownDropped = dropped
        environment.forget(through: dropped.index)
    }

    private static func dropped(_ transaction: LMDBTransaction) throws(LMDBError) -> ReplayBucket {
        ReplayBucket(index: try transaction.stored(droppedName) ?? .min)
    }

    /// Runs `body` in a transaction, on a larger map for as long as it finds the map full and the limit allows it.
    private func growing<Result>(
        upTo limit: Int, _ body: (LMDBTransaction) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        while true {
            do {
                return try environment.write(body)
            } catch {
                let larger = min(limit, size + max(size / 2, Self.slack))
                guard error.isMapFull, larger > size else { throw error }
                try environment.grow(to: larger)
            }
        }
    }

    func counts() throws(LMDBError) -> [(bucket: ReplayBucket, entries: Int)] {
        try environment.write { (transaction) throws(LMDBError) in
            try transaction.databases().map { (number) throws(LMDBError) in
                (ReplayBucket(index: number), try transaction.count(number))
            }
        }
    }

    func sync() throws(LMDBError) {
        try environment.sync()
    }
}
