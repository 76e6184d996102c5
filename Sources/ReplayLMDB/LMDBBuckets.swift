internal import Glibc
internal import MediaToken

/// The buckets of a store: a file for each minute of expiry in which there is a token.
///
/// Not thread-safe: the store serialises the calls.
final class LMDBBuckets {
    /// Keys in one transaction at the most, so that the disk that it may need is little too.
    private static let transactionLimit = 64

    private let directory: StoreDirectory
    private let sizeLimit: Int
    private let horizon: Horizon
    private var files: [ReplayBucket: BucketFile] = [:]
    /// As far as this process has closed and deleted files.
    private var swept = ReplayBucket(index: .min)

    /// Opens every file that is there, so that a damaged one is found now.
    init(in directory: StoreDirectory, sizeLimit: Int) throws(StoreFault) {
        self.directory = directory
        self.sizeLimit = sizeLimit
        horizon = try Horizon(directory.horizonFile)
        for bucket in try directory.buckets() where bucket > horizon.dropped {
            do throws(LMDBError) {
                files[bucket] = try BucketFile(opening: directory.file(of: bucket))
            } catch {
                // Another user may have swept it since it was listed.
                guard error.code == ENOENT else { throw StoreFault(error.reason) }
            }
        }
    }

    /// Answers the claims of a group, in order, with a transaction for each bucket among them.
    func claim(
        _ group: [ReplayClaim], fence: Timestamp, at now: Timestamp
    ) -> [Result<ReplayAnswer, LMDBError>] {
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
        for (bucket, positions) in pending {
            let inserted = insert(positions.map { group[$0] }, into: bucket, at: now)
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
            return .failure(error)
        }
    }

    private func file(of bucket: ReplayBucket) throws(LMDBError) -> BucketFile {
        if let file = files[bucket] { return file }
        let file = try BucketFile(making: directory.file(of: bucket))
        files[bucket] = file
        return file
    }

    /// Deletes the buckets that have passed at `now`.
    func sweep(at now: Timestamp) {
        horizon.move(to: ReplayBucket(lastPassedAt: now))
        let dropped = horizon.dropped
        guard dropped > swept else { return }
        files = files.filter { $0.key > dropped }
        directory.deleteBuckets(through: dropped)
        swept = dropped
    }

    /// Of each bucket, how many tokens there are.
    func counts() throws(LMDBError) -> [(bucket: ReplayBucket, entries: Int)] {
        let dropped = horizon.dropped
        let buckets: [ReplayBucket]
        do { buckets = try directory.buckets() } catch { throw LMDBError(code: EIO, action: "list the buckets") }
        return try buckets.filter { $0 > dropped }.map { (bucket) throws(LMDBError) in
            (bucket, try file(of: bucket).count())
        }
    }

    /// Bytes on the disk, of all users' files.
    var bytes: Int { directory.bytesOfBuckets() }
}
