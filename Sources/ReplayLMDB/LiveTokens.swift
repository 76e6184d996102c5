internal import MediaToken

/// The tokens in the log that have not expired, in the memory of this process.
///
/// They are split over many indexes, so that a claim that finds one of them full, or a bucket of it expired, never has
/// many tokens to move or to delete.
struct LiveTokens {
    private static let indexes = 256

    private var indexes = Array(repeating: ReplayIndex(), count: Self.indexes)
    /// All buckets up to this one are deleted, from each index when it is next used.
    private var dropped = ReplayBucket(index: .min)
    /// The number of tokens, with those of deleted buckets whose memory is not freed yet.
    private(set) var count = 0

    /// The index that has a token. ``DigestTable`` places a half digest by its first word, so this uses the second.
    private static func number(of half: SIMD2<UInt64>) -> Int { Int(half[1] >> 56) }

    /// Deletes the buckets up to `last`.
    mutating func drop(through last: ReplayBucket) {
        dropped = max(dropped, last)
    }

    /// Frees the memory of all buckets that were deleted, which the use of an index does for that index.
    mutating func sweep() {
        for number in indexes.indices { count -= indexes[number].drop(through: dropped) }
    }

    /// Claims a key for its first use. The bucket of the claim must be later than those that are deleted.
    mutating func claim(_ claim: ReplayClaim, at now: Timestamp) -> ReplayAnswer {
        let number = Self.number(of: claim.key.half)
        count -= indexes[number].drop(through: dropped)
        let answer = indexes[number].claim(claim, at: now)
        if answer == .first { count += 1 }
        return answer
    }

    /// The answer to a claim on a key that was claimed before; `nil` if it was not.
    func use(before claim: ReplayClaim) -> ReplayAnswer? {
        indexes[Self.number(of: claim.key.half)].use(before: claim)
    }

    /// Whether a key was claimed, and when, if the claim had a fingerprint.
    func find(_ question: ReplayQuestion) -> ReplayLookupResult.Use {
        indexes[Self.number(of: question.key.half)].find(question)
    }

    /// Takes over an entry of the log, unless its bucket is deleted.
    mutating func insert(_ entry: LogRecord.Entry) {
        guard entry.bucket > dropped else { return }
        let number = Self.number(of: entry.half)
        count -= indexes[number].drop(through: dropped)
        if indexes[number].insert(entry.half, in: entry.bucket, entry.use) { count += 1 }
    }

    /// Has the processor fetch the memory that the claims of a group need, all at the same time.
    func touch(_ group: ArraySlice<ReplayClaim>) {
        for claim in group {
            let half = claim.key.half
            _ = indexes[Self.number(of: half)].touch(half, in: ReplayBucket(expiring: claim.until))
        }
    }

    /// The number of tokens in each bucket.
    var counts: [ReplayBucket: Int] {
        indexes.reduce(into: [:]) { sum, index in
            sum.merge(index.sizes.mapValues(\.count), uniquingKeysWith: +)
        }.filter { $0.key > dropped }
    }
}
