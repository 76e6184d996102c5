internal import MediaToken

/// First uses of tokens, as they stand together in the log.
///
/// An entry is three words: the half of the token's key that stores keep, and its bucket. If the bucket's lowest bit is
/// set, three more words have the use that a retry must match.
struct LogRecord {
    /// The first use of a token.
    struct Entry {
        let half: SIMD2<UInt64>
        let bucket: ReplayBucket
        let use: FingerprintedUse?
    }

    /// The largest size in words: two records fill one of LMDB's pages, and a larger one would take pages of its own.
    private static let limit = 240
    /// The words of an entry without a use that a retry must match; one with such a use has twice as many.
    fileprivate static let width = 3

    private(set) var words: [UInt64] = []

    var isFull: Bool { words.count + 2 * Self.width > Self.limit }

    mutating func append(_ entry: Entry) {
        words.append(entry.half[0])
        words.append(entry.half[1])
        words.append(UInt64(bitPattern: entry.bucket.index << 1) | (entry.use == nil ? 0 : 1))
        guard let use = entry.use?.words else { return }
        words.append(use.0)
        words.append(use.1)
        words.append(use.2)
    }
}

/// The entries of a record in the memory of the log's file. They can be read until the transaction writes to the log.
struct LogEntries: Sequence, IteratorProtocol {
    private let words: UnsafeRawBufferPointer
    private var position = 0
    /// The number of entries.
    private(set) var count = 0

    /// - Returns: `nil` if the bytes do not end where an entry does.
    init?(_ bytes: UnsafeRawBufferPointer) {
        words = bytes
        while position < length {
            position += width(at: position)
            count += 1
        }
        guard position == length, bytes.count.isMultiple(of: 8) else { return nil }
        position = 0
    }

    mutating func next() -> LogRecord.Entry? {
        guard position < length else { return nil }
        defer { position += width(at: position) }
        let use = isFingerprinted(at: position) ? (word(position + 3), word(position + 4), word(position + 5)) : nil
        return LogRecord.Entry(
            half: SIMD2(word(position), word(position + 1)),
            bucket: ReplayBucket(index: Int64(bitPattern: word(position + 2)) >> 1),
            use: use.map { FingerprintedUse(words: $0) })
    }

    private var length: Int { words.count / 8 }

    private func word(_ position: Int) -> UInt64 { words.loadUnaligned(fromByteOffset: position * 8, as: UInt64.self) }

    private func isFingerprinted(at position: Int) -> Bool { word(position + 2) & 1 == 1 }

    private func width(at position: Int) -> Int {
        position + LogRecord.width <= length && isFingerprinted(at: position) ? 2 * LogRecord.width : LogRecord.width
    }
}
