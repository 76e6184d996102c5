public import Timestamps

/// What a replay store holds, for people who run it.
public struct ReplayStoreStatus: Sendable {
    /// One minute of expiry times.
    public struct Bucket: Sendable {
        /// When the first of its tokens expires.
        public let begin: Timestamp
        /// When all of them have expired.
        public let end: Timestamp
        /// How many there are.
        public let entries: Int
    }

    /// In the order of time; empty where the store cannot tell them apart.
    public let buckets: [Bucket]
    /// Live entries altogether.
    public let entries: Int
    /// Bytes on the disk or in memory; `nil` where the store cannot tell.
    public let bytes: Int?
    /// Tokens issued up to then cannot be shown unused; `nil` where there is no fence.
    public let fence: Timestamp?

    /// From what a store counts in each bucket.
    package init(buckets: [(bucket: ReplayBucket, entries: Int)], bytes: Int?, fence: Timestamp?) {
        self.buckets = buckets.sorted { $0.bucket < $1.bucket }.map {
            Bucket(begin: $0.bucket.begin, end: $0.bucket.end, entries: $0.entries)
        }
        entries = buckets.reduce(0) { $0 + $1.entries }
        self.bytes = bytes
        self.fence = fence
    }
}
