public import Basics

/// The contents of a replay store, for its operator.
public struct ReplayStoreContents: Sendable {
    /// An expiry bucket: the tokens that expire within one minute.
    public struct Bucket: Sendable {
        /// The first expiry time in the bucket.
        public let begin: Timestamp
        /// The time by which all tokens in the bucket have expired.
        public let end: Timestamp
        /// The number of tokens in the bucket.
        public let entries: Int
    }

    /// The expiry buckets that hold tokens, in order of time.
    public let buckets: [Bucket]
    /// The number of entries. A store keeps one for minutes after its token has expired.
    public let entries: Int
    /// The size on disk or in memory, in bytes; `nil` if the store does not know.
    public let bytes: Int?
    /// The store's fence; `nil` if there is none. Tokens issued up to this time are rejected, since an earlier use
    /// cannot be ruled out.
    public let fence: Timestamp?

    /// Creates the contents from the number of entries that a store counted in each bucket.
    package init(buckets: [(bucket: ReplayBucket, entries: Int)], bytes: Int?, fence: Timestamp?) {
        self.buckets = buckets.sorted { $0.bucket < $1.bucket }.map {
            Bucket(begin: $0.bucket.begin, end: $0.bucket.end, entries: $0.entries)
        }
        entries = buckets.reduce(0) { $0 + $1.entries }
        self.bytes = bytes
        self.fence = fence
    }
}
