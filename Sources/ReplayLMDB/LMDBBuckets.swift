internal import Glibc
internal import MediaToken
internal import Timestamps

/// The buckets of a store: a file for each minute of expiry in which there is a token.
///
/// Not thread-safe: the store serialises the calls.
final class LMDBBuckets {
    /// Keys in one transaction at the most, so that the disk that it may need is little too.
    private static let transactionLimit = 64

    let catalog: StoreCatalog
    private let sizeLimit: Int
    private var files: [ReplayBucket: BucketFile] = [:]
    /// As far as this process has closed and deleted files.
    private var swept = ReplayBucket(index: .min)
    /// Whether a file was found to be missing, or another one than was listed.
    private var isLost = false

    private var horizon: Horizon { catalog.horizon }

    /// Opens every file that is listed, so that a damaged one is found now. Called with the directory alone.
    init(_ catalog: StoreCatalog, sizeLimit: Int) throws(StoreFault) {
        (self.catalog, self.sizeLimit) = (catalog, sizeLimit)
        for bucket in catalog.buckets {
            do throws(StoreFault) { files[bucket] = try catalog.openListed(bucket) } catch {
                // Another user may have swept it since it was listed.
                guard bucket <= horizon.dropped else { throw error }
            }
        }
    }

    deinit {
        // Before the directory's lock goes, and its place among this process's open stores.
        files = [:]
    }

    /// Whether the claims made so far are in the store that the path leads to now.
    func stand() throws(StoreFault) -> Bool {
        isLost ? false : try catalog.stands()
    }

    /// Ends the use; the last user marks the store as closed cleanly.
    func close() throws(StoreFault) {
        files = [:]
        try catalog.directory.alone { () throws(StoreFault) in
            // Within the directory lock: a process that waits for it can then join at once.
            defer { catalog.directory.leave() }
            try catalog.close()
        }
    }

    /// Answers the claims of a group, in order, with a transaction for each bucket among them.
    func claim(
        _ group: [ReplayClaim], fence: Timestamp, at now: Timestamp
    ) -> [Result<ReplayAnswer, StoreFault>] {
        // Asked before a file is made or removed, which wipes the trace of a move out.
        if catalog.directory.lastChange == nil { isLost = true }
        sweep(at: now)
        let dropped = horizon.dropped
        var answers = [Result<ReplayAnswer, StoreFault>](
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
        var held: StoreFault?
        for (bucket, positions) in pending {
            // A store that another process holds is waited for once in a group.
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
    ) -> Result<[ReplayAnswer], StoreFault> {
        do throws(StoreFault) {
            return .success(try file(of: bucket).insert(claims, at: now) { bytes + $0 <= sizeLimit })
        } catch {
            // A bucket that another process has just deleted as expired is rightly missing.
            if error.isLost, bucket > horizon.dropped { isLost = true }
            return .failure(error)
        }
    }

    private func file(of bucket: ReplayBucket) throws(StoreFault) -> BucketFile {
        if let file = files[bucket] { return file }
        let file = try catalog.open(bucket)
        files[bucket] = file
        return file
    }

    /// Deletes the buckets that have passed at `now`.
    func sweep(at now: Timestamp) {
        horizon.move(to: ReplayBucket(lastPassedAt: now))
        let dropped = horizon.dropped
        guard dropped > swept else { return }
        files = files.filter { $0.key > dropped }
        catalog.deleteBuckets(through: dropped)
        swept = dropped
    }

    /// Of each bucket, how many tokens there are.
    func counts() throws(StoreFault) -> [(bucket: ReplayBucket, entries: Int)] {
        var counts: [(ReplayBucket, Int)] = []
        for bucket in catalog.buckets {
            do throws(StoreFault) { counts.append((bucket, try file(of: bucket).count())) } catch {
                // Another user may have swept it meanwhile.
                guard bucket <= horizon.dropped else { throw error }
            }
        }
        return counts
    }

    /// Bytes on the disk, of all users' files.
    var bytes: Int { catalog.bytesOfBuckets() }
}
