internal import Synchronization
internal import Threading
public import Timestamps

/// A replay store in the memory of one process. What it knows ends with the process.
///
/// A process that serves viewers must therefore be fenced at its start (``init(capacity:fencedAt:)``), or a token used just
/// before a restart can be used again just after it. Takes 20 to 30 bytes a live token once it is busy.
///
/// Safe to use from any number of threads at once: it is split by digest into shards, each with a lock of its own.
public final class MemoryReplayCache: ReplayCache {
    /// Live entries at the most.
    public let capacity: Int
    /// Tokens issued up to this moment are refused, as they may have been used before; `nil` for none.
    public let fence: Timestamp?

    private let shards: [Guarded<MemoryReplayShard>]
    private let liveEntries = Atomic<Int>(0)

    /// An empty store.
    ///
    /// - Parameters:
    ///   - capacity: live entries at the most. Beyond it every new claim is ``ReplayCacheError/full(_:)``.
    ///   - fence: when the store began to remember, by Adobe's clock: ``Timestamp/now`` plus the policy's clock skew.
    ///     Left out, a token that was used before the store was made passes once more: right for one run over captured
    ///     tokens, wrong for a service.
    public init(capacity: Int = 20_000_000, fencedAt fence: Timestamp? = nil) {
        self.capacity = capacity
        self.fence = fence
        shards = (0..<256).map { _ in Guarded(MemoryReplayShard()) }
    }

    /// Entries held now, those included that have expired and are not dropped yet.
    public var count: Int { liveEntries.load(ordering: .relaxed) }

    /// Decides the claims of a group, in order; see ``ReplayCache``.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>] {
        let lastPassed = ReplayBucket(lastPassedAt: now)
        return group.indices.map { index in
            let claim = group[index]
            if let fence, claim.issued <= fence {
                return .success(.predatesStore(since: fence))
            }
            let shard = shards[Int(claim.key.words.0 >> 56)]
            return shard.withLock { $0.claim(claim, at: now, lastPassed: lastPassed, counter: self) }
        }
    }

    /// Drops what has passed. Claims do so by the way; this is for a store that nobody asks any more.
    public func sweep(at now: Timestamp) {
        let lastPassed = ReplayBucket(lastPassedAt: now)
        for shard in shards { shard.withLock { $0.drop(through: lastPassed, counter: self) } }
    }

    /// What it holds; the bytes are those of its tables.
    public func status() -> ReplayStoreStatus {
        var counts: [ReplayBucket: Int] = [:]
        var bytes = 0
        for shard in shards {
            let sizes = shard.withLock { $0.sizes }
            counts.merge(sizes.mapValues(\.count), uniquingKeysWith: +)
            bytes += sizes.values.reduce(0) { $0 + $1.bytes }
        }
        return ReplayStoreStatus(buckets: counts.map { ($0.key, $0.value) }, bytes: bytes, fence: fence)
    }

    /// Takes room for one more entry; `false` where there is none.
    fileprivate func reserve() -> Bool {
        guard liveEntries.add(1, ordering: .relaxed).newValue <= capacity else {
            release(1)
            return false
        }
        return true
    }

    fileprivate func release(_ entries: Int) {
        liveEntries.subtract(entries, ordering: .relaxed)
    }
}

/// The buckets of one 256th of all digests.
private struct MemoryReplayShard {
    private var buckets: [ReplayBucket: MemoryReplayBucket] = [:]
    /// Everything up to this bucket has been dropped. What falls into it can no longer be shown unused.
    private var dropped = ReplayBucket(index: .min)

    mutating func claim(
        _ claim: ReplayClaim, at now: Timestamp, lastPassed: ReplayBucket, counter: MemoryReplayCache
    ) -> Result<ReplayAnswer, ReplayCacheError> {
        drop(through: lastPassed, counter: counter)
        let bucket = ReplayBucket(expiring: claim.until)
        guard bucket > dropped else { return .success(.predatesStore(since: dropped.end)) }
        // Before it is looked up, so that it is looked up once. Where room is nearly gone, a used token may so take the last
        // place for a moment, and another's first use be told that the store is full.
        guard counter.reserve() else {
            let use = buckets[bucket]?.use(before: claim)
            return use.map { .success($0) } ?? .failure(.full("it may hold \(counter.capacity) live entries"))
        }
        let answer = buckets[bucket, default: MemoryReplayBucket()].claim(claim, at: now)
        if answer != .first { counter.release(1) }
        return .success(answer)
    }

    var sizes: [ReplayBucket: (count: Int, bytes: Int)] {
        buckets.mapValues { ($0.keys.count, $0.bytes) }
    }

    mutating func drop(through last: ReplayBucket, counter: MemoryReplayCache) {
        guard last > dropped else { return }
        dropped = last
        for (bucket, table) in buckets where bucket <= last {
            counter.release(table.keys.count)
            buckets[bucket] = nil
        }
    }
}

/// The keys of one bucket and shard, and beside few of them who has used them.
private struct MemoryReplayBucket {
    private(set) var keys = DigestTable()
    private var marked: [SIMD2<UInt64>: MarkedUse] = [:]

    var bytes: Int {
        keys.bytes + marked.capacity * (MemoryLayout<SIMD2<UInt64>>.stride + MemoryLayout<MarkedUse>.stride)
    }

    mutating func claim(_ claim: ReplayClaim, at now: Timestamp) -> ReplayAnswer {
        guard keys.insert(claim.key) else { return answer(toAnother: claim) }
        if let use = MarkedUse(claim, at: now) { marked[claim.key.half] = use }
        return .first
    }

    /// `nil` where there is none.
    func use(before claim: ReplayClaim) -> ReplayAnswer? {
        keys.contains(claim.key) ? answer(toAnother: claim) : nil
    }

    private func answer(toAnother claim: ReplayClaim) -> ReplayAnswer {
        claim.mark == nil ? .alreadyUsed : marked[claim.key.half]?.answer(to: claim) ?? .alreadyUsed
    }
}
