public import Basics
internal import Synchronization

/// A replay store in the memory of one process. Its records end with the process.
///
/// A long-running process creates its store with a fence (``init(fencedAt:capacity:)``), because a new store does not
/// know which tokens were used just before. A busy store takes 20 to 30 bytes per live token.
///
/// Any number of threads can use the store at once: it is split by digest into shards, each with its own lock.
public final class MemoryReplayStore: ReplayStore {
    /// The largest number of live entries.
    public let capacity: Int
    /// Tokens issued up to this time are rejected, as they may have been used before; `nil` if there is no fence.
    public let fence: Timestamp?

    private let shards: [Guarded<ReplayIndex>]
    private let liveEntries = Atomic<Int>(0)

    /// The capacity of a store for which none is given.
    public static let defaultCapacity = 20_000_000

    /// Creates an empty store that rejects every token issued up to its start.
    ///
    /// - Parameters:
    ///   - fence: the start of the store's records, by Adobe's clock: ``Timestamp/now`` plus the policy's clock skew.
    ///   - capacity: the largest number of live entries. A full store answers every new claim with
    ///     ``ReplayStoreError/full(_:)``.
    public convenience init(fencedAt fence: Timestamp, capacity: Int = defaultCapacity) {
        self.init(capacity, fence)
    }

    /// Creates an empty store that takes every token for unused until it is claimed here. That is right for one run
    /// over captured tokens, and wrong for a long-running process: a token used just before a restart is accepted again
    /// after it.
    ///
    /// - Parameter capacity: the largest number of live entries. A full store answers every new claim with
    ///   ``ReplayStoreError/full(_:)``.
    public static func unfenced(capacity: Int = defaultCapacity) -> MemoryReplayStore {
        MemoryReplayStore(capacity, nil)
    }

    private init(_ capacity: Int, _ fence: Timestamp?) {
        (self.capacity, self.fence) = (capacity, fence)
        shards = (0..<256).map { _ in Guarded(ReplayIndex()) }
    }

    /// The number of entries, including those that have expired and are not deleted yet.
    public var count: Int { liveEntries.load(ordering: .relaxed) }

    /// Decides the claims of a group, in order; see ``ReplayStore``.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        let lastPassed = ReplayBucket(lastPassedAt: now)
        return group.indices.map { index in
            let claim = group[index]
            if let fence, claim.issued <= fence {
                return .success(.predatesStore(since: fence))
            }
            let shard = shards[Int(claim.key.words.0 >> 56)]
            return shard.withLock { self.claim(claim, at: now, lastPassed, in: &$0) }
        }
    }

    /// Decides the claims of a group at once, since the store never waits.
    public func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>] {
        claim(group, at: now)
    }

    /// Deletes expired entries. Each claim does that for its shard; call this for a store that gets no more claims.
    public func sweep(at now: Timestamp) {
        let lastPassed = ReplayBucket(lastPassedAt: now)
        for shard in shards { shard.withLock { release($0.drop(through: lastPassed)) } }
    }

    /// The store's contents. Its size in bytes is that of its tables.
    public func contents() -> ReplayStoreContents {
        var counts: [ReplayBucket: Int] = [:]
        var bytes = 0
        for shard in shards {
            let sizes = shard.withLock { $0.sizes }
            counts.merge(sizes.mapValues(\.count), uniquingKeysWith: +)
            bytes += sizes.values.reduce(0) { $0 + $1.bytes }
        }
        return ReplayStoreContents(buckets: counts.map { ($0.key, $0.value) }, bytes: bytes, fence: fence)
    }

    private func claim(
        _ claim: ReplayClaim, at now: Timestamp, _ lastPassed: ReplayBucket, in shard: inout ReplayIndex
    ) -> Result<ReplayAnswer, ReplayStoreError> {
        release(shard.drop(through: lastPassed))
        guard ReplayBucket(expiring: claim.until) > shard.dropped else {
            return .success(.predatesStore(since: shard.dropped.end))
        }
        // Room is reserved first, so that the key is looked up only once. If the store is nearly full, a claim on a
        // used token may briefly hold the last place, and the first use of another token may then be answered `full`.
        guard reserve() else {
            let use = shard.use(before: claim)
            return use.map { .success($0) } ?? .failure(.full("it may hold \(capacity) live entries"))
        }
        let answer = shard.claim(claim, at: now)
        if answer != .first { release(1) }
        return .success(answer)
    }

    /// Reserves room for one more entry; `false` if there is none.
    private func reserve() -> Bool {
        guard liveEntries.add(1, ordering: .relaxed).newValue <= capacity else {
            release(1)
            return false
        }
        return true
    }

    private func release(_ entries: Int) {
        liveEntries.subtract(entries, ordering: .relaxed)
    }
}
