package import Basics

/// The used tokens that a process knows of: their keys by expiry bucket and, for some, the use that a retry must match.
///
/// A store splits its tokens over many indexes, so that none of them is large when it grows or drops a bucket.
package struct ReplayIndex: Sendable {
    private var buckets: [ReplayBucket: IndexedBucket] = [:]
    /// All buckets up to this one have been deleted, so an earlier use of their tokens can no longer be ruled out.
    package private(set) var dropped = ReplayBucket(index: .min)

    package init() {}

    /// Claims a key for its first use. The bucket of the claim must be later than ``dropped``.
    package mutating func claim(_ claim: ReplayClaim, at now: Timestamp) -> ReplayAnswer {
        buckets[ReplayBucket(expiring: claim.until), default: IndexedBucket()].claim(claim, at: now)
    }

    /// The answer to a claim on a key that was claimed before; `nil` if it was not.
    package func use(before claim: ReplayClaim) -> ReplayAnswer? {
        buckets[ReplayBucket(expiring: claim.until)]?.use(before: claim)
    }

    /// Whether a key was claimed, and when, if the claim had a fingerprint.
    package func find(_ question: ReplayQuestion) -> ReplayLookupResult.Use {
        buckets[ReplayBucket(expiring: question.until)]?.find(question.key.half) ?? .unused
    }

    /// Takes over a first use that another process has recorded; `false` if the key was there before.
    @discardableResult
    package mutating func insert(_ half: SIMD2<UInt64>, in bucket: ReplayBucket, _ use: FingerprintedUse?) -> Bool {
        buckets[bucket, default: IndexedBucket()].insert(half, use)
    }

    /// Reads what a claim on a key will need first. Called for all claims of a group before they are decided, it has
    /// the processor wait for their memory at the same time.
    package func touch(_ half: SIMD2<UInt64>, in bucket: ReplayBucket) -> UInt64 {
        buckets[bucket]?.keys.touch(half) ?? 0
    }

    /// Deletes the buckets up to `last`.
    ///
    /// - Returns: the number of keys that were deleted.
    package mutating func drop(through last: ReplayBucket) -> Int {
        guard last > dropped else { return 0 }
        dropped = last
        var count = 0
        for (bucket, keys) in buckets where bucket <= last {
            count += keys.keys.count
            buckets[bucket] = nil
        }
        return count
    }

    /// The number of keys, and the bytes of memory, of each bucket.
    package var sizes: [ReplayBucket: (count: Int, bytes: Int)] {
        buckets.mapValues { ($0.keys.count, $0.bytes) }
    }
}

/// The keys of one bucket, and for some of them the use that a retry must match.
private struct IndexedBucket {
    private(set) var keys = DigestTable()
    private var fingerprinted: [SIMD2<UInt64>: FingerprintedUse] = [:]

    var bytes: Int {
        keys.bytes + fingerprinted.capacity
            * (MemoryLayout<SIMD2<UInt64>>.stride + MemoryLayout<FingerprintedUse>.stride)
    }

    mutating func claim(_ claim: ReplayClaim, at now: Timestamp) -> ReplayAnswer {
        insert(claim.key.half, FingerprintedUse(claim, at: now)) ? .first : answer(toAnother: claim)
    }

    mutating func insert(_ half: SIMD2<UInt64>, _ use: FingerprintedUse?) -> Bool {
        guard keys.insert(half) else { return false }
        if let use { fingerprinted[half] = use }
        return true
    }

    /// The answer to a claim on a key that was claimed before; `nil` if it was not.
    func use(before claim: ReplayClaim) -> ReplayAnswer? {
        keys.contains(claim.key.half) ? answer(toAnother: claim) : nil
    }

    func find(_ half: SIMD2<UInt64>) -> ReplayLookupResult.Use {
        keys.contains(half) ? .used(since: fingerprinted[half]?.time) : .unused
    }

    private func answer(toAnother claim: ReplayClaim) -> ReplayAnswer {
        claim.fingerprint == nil ? .alreadyUsed : fingerprinted[claim.key.half]?.answer(to: claim) ?? .alreadyUsed
    }
}
