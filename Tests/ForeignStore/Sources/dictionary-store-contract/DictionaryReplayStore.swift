import MediaToken
import Synchronization

final class DictionaryReplayStore: ReplayStore {
    private struct Records {
        var uses: [ReplayBucket: [ReplayKey: FingerprintedUse?]] = [:]
        var dropped: ReplayBucket
    }
    private let fence: Timestamp
    private let records: Mutex<Records>

    init(fencedAt fence: Timestamp) {
        self.fence = fence
        records = Mutex(Records(dropped: ReplayBucket(lastPassedAt: fence)))
    }

    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        records.withLock { records in
            let dropped = max(records.dropped, ReplayBucket(lastPassedAt: now))
            records = Records(uses: records.uses.filter { $0.key > dropped }, dropped: dropped)
            return group.map { .success(answer($0, at: now, &records)) }
        }
    }

    private func answer(_ claim: ReplayClaim, at now: Timestamp, _ records: inout Records) -> ReplayAnswer {
        let bucket = ReplayBucket(expiring: claim.until)
        if claim.issued <= fence { return .predatesStore(since: fence) }
        if bucket <= records.dropped { return .predatesStore(since: records.dropped.end) }
        if let use = records.uses[bucket]?[claim.key] { return use?.answer(to: claim) ?? .alreadyUsed }
        records.uses[bucket, default: [:]].updateValue(FingerprintedUse(claim, at: now), forKey: claim.key)
        return .first
    }
}
