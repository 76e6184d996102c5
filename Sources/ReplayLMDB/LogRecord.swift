internal import MediaToken

/// First uses of tokens, as they stand together in the log.
///
/// An entry is three words: the half of the token's key that stores keep, and its bucket between a check sum and a bit.
/// If that lowest bit is set, three more words have the use that a retry must match.
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
    private static let width = 3

    private(set) var words: [UInt64] = []

    var isFull: Bool { words.count + 2 * Self.width > Self.limit }

    mutating func append(_ entry: Entry) {
        words.append(entry.half[0])
        words.append(entry.half[1])
        words.append(Self.checked(UInt64(entry.bucket.index) << 1 | (entry.use == nil ? 0 : 1), entry.half, entry.use))
        guard let use = entry.use?.words else { return }
        words.append(use.0)
        words.append(use.1)
        words.append(use.2)
    }

    /// An entry's third word, from its low 33 bits: the others are a check sum of the whole entry.
    private static func checked(_ low: UInt64, _ half: SIMD2<UInt64>, _ use: FingerprintedUse?) -> UInt64 {
        let use = use?.words ?? (0, 0, 0)
        var sum: UInt64 = 0x6D65_6469_6120_746B
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
            sum ^= sum >> 32
        }
        add(low)
        add(half[0])
        add(half[1])
        add(use.0)
        add(use.1)
        add(use.2)
        return low | sum << 33
    }

    /// Reads the entries of a record; `nil` if the bytes are not entries as ``append(_:)`` makes them.
    static func entries(of bytes: UnsafeRawBufferPointer) -> [Entry]? {
        let word = { (position: Int) in bytes.loadUnaligned(fromByteOffset: position * 8, as: UInt64.self) }
        let length = bytes.count / 8
        guard bytes.count.isMultiple(of: 8), length.isMultiple(of: width) else { return nil }
        var entries: [Entry] = []
        var position = 0
        while position < length {
            let (half, third) = (SIMD2(word(position), word(position + 1)), word(position + 2))
            position += width
            var use: FingerprintedUse?
            if third & 1 == 1 {
                guard position < length else { return nil }
                use = FingerprintedUse(words: (word(position), word(position + 1), word(position + 2)))
                position += width
            }
            guard third == checked(third & 0x1_FFFF_FFFF, half, use) else { return nil }
            entries.append(
                Entry(half: half, bucket: ReplayBucket(index: Int64(third >> 1 & 0xFFFF_FFFF)), use: use))
        }
        return entries
    }
}
