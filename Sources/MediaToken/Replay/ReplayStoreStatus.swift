public import Timestamps

/// The contents of a replay store, for its operator.
public struct ReplayStoreStatus: Sendable {
    /// One minute of expiry times.
    public struct Bucket: Sendable {
        /// When the first of its tokens expires.
        public let begin: Timestamp
        /// When all of its tokens have expired.
        public let end: Timestamp
        /// The number of tokens.
        public let entries: Int
    }

    /// The expiry buckets in order of time; empty if the store cannot tell them apart.
    public let buckets: [Bucket]
    /// The number of live entries.
    public let entries: Int
    /// Size on disk or in memory, in bytes; `nil` if the store does not know.
    public let bytes: Int?
    /// Tokens issued up to this time cannot be shown unused; `nil` if there is no fence.
    public let fence: Timestamp?

    /// Adds up the numbers of entries that a store counted per bucket.
    package init(buckets: [(bucket: ReplayBucket, entries: Int)], bytes: Int?, fence: Timestamp?) {
        self.buckets = buckets.sorted { $0.bucket < $1.bucket }.map {
            Bucket(begin: $0.bucket.begin, end: $0.bucket.end, entries: $0.entries)
        }
        entries = buckets.reduce(0) { $0 + $1.entries }
        self.bytes = bytes
        self.fence = fence
    }
}
