internal import Glibc
internal import MediaToken

/// The expiry buckets of a store: one file for each minute of expiry times for which the store has a token.
///
/// Not thread-safe: the store serialises the calls.
final class LMDBBuckets {
    /// The largest number of keys in one transaction. It limits the disk that a transaction may need.
    private static let transactionLimit = 64

    let catalog: StoreCatalog
    private let sizeLimit: Int
    private var files: [ReplayBucket: BucketFile] = [:]
    /// The last bucket up to which this process has closed and deleted files.
    private var swept = ReplayBucket(index: .min)
    /// Whether this process found a listed file missing or replaced, or found the directory moved.
    private var isLost = false

    private var horizon: Horizon { catalog.horizon }

    /// Opens every listed file, so that damage is found when the store is opened. The caller holds the directory lock.
    init(_ catalog: StoreCatalog, sizeLimit: Int) throws(LMDBError) {
        (self.catalog, self.sizeLimit) = (catalog, sizeLimit)
        for bucket in catalog.buckets {
            do throws(LMDBError) { files[bucket] = try catalog.openListed(bucket) } catch {
                // Another process may have deleted the bucket as expired since it was listed.
                guard bucket <= horizon.dropped else { throw error }
            }
        }
    }

    deinit {
        // The files are closed before the directory's lock and its place among this process's open stores are released.
        files = [:]
    }

    /// Whether the replay claims that this process has made are in the store that the path leads to now.
    func stand() throws(LMDBError) -> Bool {
        isLost ? false : try catalog.stands()
    }

    /// Ends this process's use of the store; the last user marks the store as closed cleanly.
    func close() throws(LMDBError) {
        files = [:]
        try catalog.directory.alone { () throws(LMDBError) in
            // Leaves within the directory lock: a process that waits for that lock can then join at once.
            defer { catalog.directory.leave() }
            try catalog.close()
        }
    }

    /// Answers the replay claims of a group, in order, with one transaction for each bucket among them (several for
    /// more than ``transactionLimit`` keys).
    func claim(
        _ group: [ReplayClaim], fence: Timestamp, at now: Timestamp
    ) -> [Result<ReplayAnswer, LMDBError>] {
        // Checked before a file is created or deleted, because that erases the trace of a moved directory.
        if catalog.directory.lastChange == nil { isLost = true }
        sweep(at: now)
        let dropped = horizon.dropped
        var answers = [Result<ReplayAnswer, LMDBError>](
            repeating: .success(.predatesStore(since: fence)), count: group.count)
        var pending: [(bucket: ReplayBucket, positions: [Int])] = []
        for (position, claim) in group.enumerated() where claim.issued > fence {
            let bucket = ReplayBucket(expiring: claim.until)
            if bucket <= dropped {
                answers[position] = .success(.predatesStore(since: dropped.end))
            } else if let known = pending.lastIndex(where: { $0.bucket == bucket }),
                pending[known].positions.count < Self.transactionLimit
            {
                pending[known].positions.append(position)
            } else {
                pending.append((bucket, [position]))
            }
        }
        var held: LMDBError?
        for (bucket, positions) in pending {
            // If another process holds the store, a group waits for it only once.
            let isWaitedFor = held != nil && files[bucket] == nil
            let inserted =
                isWaitedFor
                ? .failure(held ?? .lost) : insert(positions.map { group[$0] }, into: bucket, at: now)
            if case .failure(let fault) = inserted, fault.isHeld { held = fault }
            let isDropped = horizon.dropped >= bucket
            for (order, position) in positions.enumerated() {
                answers[position] =
                    isDropped
                    ? .success(.predatesStore(since: bucket.end))
                    : inserted.map { $0[order] }
            }
        }
        return answers
    }

    private func insert(
        _ claims: [ReplayClaim], into bucket: ReplayBucket, at now: Timestamp
    ) -> Result<[ReplayAnswer], LMDBError> {
        do throws(LMDBError) {
            return .success(try file(of: bucket).insert(claims, at: now) { bytes + $0 <= sizeLimit })
        } catch {
            // A missing bucket is no loss if another process has just deleted it as expired.
            if error.isLost, bucket > horizon.dropped { isLost = true }
            return .failure(error)
        }
    }

    private func file(of bucket: ReplayBucket) throws(LMDBError) -> BucketFile {
        if let file = files[bucket] { return file }
        let file = try catalog.open(bucket)
        files[bucket] = file
        return file
    }

    /// Deletes the buckets that have expired at `now`.
    func sweep(at now: Timestamp) {
        horizon.move(to: ReplayBucket(lastPassedAt: now))
        let dropped = horizon.dropped
        guard dropped > swept else { return }
        files = files.filter { $0.key > dropped }
        catalog.deleteBuckets(through: dropped)
        swept = dropped
    }

    /// The number of tokens in each bucket.
    func counts() throws(LMDBError) -> [(bucket: ReplayBucket, entries: Int)] {
        var counts: [(ReplayBucket, Int)] = []
        for bucket in catalog.buckets {
            do throws(LMDBError) { counts.append((bucket, try file(of: bucket).count())) } catch {
                // Another process may have deleted the bucket as expired meanwhile.
                guard bucket <= horizon.dropped else { throw error }
            }
        }
        return counts
    }

    /// The disk space in bytes of all buckets, including those that other processes created.
    var bytes: Int { catalog.bytesOfBuckets() }
}
