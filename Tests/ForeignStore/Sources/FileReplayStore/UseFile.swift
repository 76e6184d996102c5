import Glibc
package import MediaToken

/// A file of used tokens, and what a process has read of it. It is appended to, and replaced when buckets have expired.
///
/// The first line is `BOOT FENCE DROPPED FILE`, every other one `BUCKET KEY [USE]`; `FILE` is a number that no other
/// file has. The file is not synced: it survives the death of a process, and one from before the machine's last start
/// is not relied on.
package struct UseFile {
    private let path: String
    /// The first line of the file that was read, and the number of bytes that were.
    private var (header, known) = ("", 0)
    /// Tokens issued up to this time may have been used before the store began.
    private var fence = Timestamp(milliseconds: .max)
    /// All buckets up to this one have been deleted.
    private var dropped = ReplayBucket(expiring: Timestamp(milliseconds: .min))
    private var uses: [ReplayBucket: [ReplayKey: FingerprintedUse?]] = [:]
    /// Whether the store has begun, and so has a file.
    private var hasBegun = false
    /// The lines that are to be appended.
    private var pending: [String] = []

    package init(_ path: String) { self.path = path }

    package static func error(_ action: String) -> ReplayStoreError {
        .unavailable("cannot \(action): \(String(cString: strerror(errno)))")
    }

    // MARK: Claims

    package func answer(to claim: ReplayClaim) -> ReplayAnswer {
        if claim.issued <= fence { return .predatesStore(since: fence) }
        if ReplayBucket(expiring: claim.until) <= dropped { return .predatesStore(since: dropped.end) }
        return use(before: claim) ?? .first
    }

    /// The answer to a claim on a key that is in the file; `nil` for any other key.
    package func use(before claim: ReplayClaim) -> ReplayAnswer? {
        uses[ReplayBucket(expiring: claim.until)]?[claim.key].map { $0?.answer(to: claim) ?? .alreadyUsed }
    }

    /// Adds the first use of a key, which ``write()`` then appends to the file.
    package mutating func add(_ claim: ReplayClaim, at now: Timestamp) {
        let (bucket, use) = (ReplayBucket(expiring: claim.until), FingerprintedUse(claim, at: now))
        uses[bucket, default: [:]][claim.key] = .some(use)
        pending.append(Self.line(bucket, claim.key, use))
    }

    /// The number of uses that are not written.
    package var unwritten: Int { pending.count }

    // MARK: Lines

    private static func line(_ bucket: ReplayBucket, _ key: ReplayKey, _ use: FingerprintedUse?) -> String {
        let words = [key.words.0, key.words.1, key.words.2, key.words.3].map { String($0, radix: 16) }
        let all = [String(bucket.begin.milliseconds)] + words + (use.map { [$0.text] } ?? [])
        return all.joined(separator: " ") + "\n"
    }

    private mutating func take(_ line: Substring) throws(ReplayStoreError) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().prefix(4).compactMap { UInt64($0, radix: 16) }
        guard let first = words.first, let bucket = Int64(first), numbers.count == 4 else {
            throw .unavailable("\(path) has a line that is none of a store: \(line.prefix(100))")
        }
        let key = ReplayKey(words: (numbers[0], numbers[1], numbers[2], numbers[3]))
        let use = words.count > 5 ? FingerprintedUse(words[5]) : nil
        uses[ReplayBucket(expiring: Timestamp(milliseconds: bucket)), default: [:]][key] = .some(use)
    }

    private mutating func takeHeader(_ line: Substring) throws(ReplayStoreError) {
        let numbers = line.split(separator: " ").dropFirst().compactMap { Int64($0) }
        guard numbers.count == 3 else { throw .unavailable("\(path) does not begin like a store") }
        fence = Timestamp(milliseconds: numbers[0])
        dropped = ReplayBucket(expiring: Timestamp(milliseconds: numbers[1]))
    }

    // MARK: The file. All that follows is called under the lock.

    /// Begins a new file at `now`, unless there is one of this start of the machine.
    package mutating func begin(at now: Timestamp) throws(ReplayStoreError) {
        hasBegun = true
        let begin = try Self.bytes(of: path, from: 0, atMost: Self.longestHeader)
        guard !begin.starts(with: try Self.bootID().utf8) else { return try read() }
        (fence, dropped, uses) = (now, ReplayBucket(lastPassedAt: now), [:])
        try replace()
    }

    /// Takes over what other processes have written.
    package mutating func read() throws(ReplayStoreError) {
        let begin = try Self.bytes(of: path, from: 0, atMost: Self.longestHeader)
        guard let end = begin.firstIndex(of: UInt8(ascii: "\n")) else {
            // Before the store begins there may be no file. Without one later on, every key would look new.
            guard begin.isEmpty, !hasBegun else { throw .unavailable("\(path) is gone, or is no store") }
            return
        }
        let line = String(decoding: begin[...end], as: UTF8.self)
        if line != header {
            forget()
            try takeHeader(line.dropLast())
            (header, known) = (line, line.utf8.count)
        }
        let bytes = try Self.bytes(of: path, from: known)
        // A process that was killed while it wrote has left a part of a line, and nobody its answer.
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count, truncate(path, known + whole) != 0 { throw Self.error("repair \(path)") }
        for line in String(decoding: bytes[..<whole], as: UTF8.self).split(separator: "\n") {
            try take(line)
            known += line.utf8.count + 1
        }
    }

    /// Appends the uses that were added.
    package mutating func write() throws(ReplayStoreError) {
        guard !pending.isEmpty else { return }
        let text = pending.joined()
        try Self.write(text, to: path, O_APPEND)
        known += text.utf8.count
        pending = []
    }

    /// Deletes the buckets up to `last`, for all processes.
    package mutating func drop(through last: ReplayBucket) throws(ReplayStoreError) {
        guard last > dropped else { return }
        dropped = last
        uses = uses.filter { $0.key > last }
        try replace()
    }

    /// Reads the whole file at the next occasion.
    package mutating func forget() {
        (header, known, uses, pending) = ("", 0, [:], [])
    }

    /// Puts a file with what is in memory in the place of the present one.
    private mutating func replace() throws(ReplayStoreError) {
        let number = Int64.random(in: 0 ... .max)
        let header = "\(try Self.bootID()) \(fence.milliseconds) \(dropped.begin.milliseconds) \(number)\n"
        let text = header + uses.flatMap { bucket, keys in keys.map { Self.line(bucket, $0.key, $0.value) } }.joined()
        try Self.write(text, to: "\(path).new", O_TRUNC)
        guard rename("\(path).new", path) == 0 else { throw Self.error("replace \(path)") }
        (self.header, known, pending) = (header, text.utf8.count, [])
    }

    /// A boot ID, three numbers, and the spaces between them.
    private static let longestHeader = 100

    /// The kernel's ID of this start of the machine.
    private static func bootID() throws(ReplayStoreError) -> String {
        let text = String(decoding: try bytes(of: "/proc/sys/kernel/random/boot_id", from: 0), as: UTF8.self)
        guard let id = text.split(separator: "\n").first else { throw .unavailable("the kernel tells no boot ID") }
        return String(id)
    }

    /// Writes all of a text; if that fails, its part is cut off by the next process that reads.
    private static func write(_ text: String, to path: String, _ flag: Int32) throws(ReplayStoreError) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o600)
        guard file >= 0 else { throw error("open \(path)") }
        defer { close(file) }
        var left = ArraySlice(text.utf8)
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw error("write to \(path)") }
            left = left.dropFirst(count)
        }
    }

    /// The bytes of a file from a position on; none if there is no file.
    private static func bytes(
        of path: String, from position: Int, atMost limit: Int = .max
    ) throws(ReplayStoreError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return [] }
            throw error("open \(path)")
        }
        defer { close(file) }
        var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: min(limit, 65_536)))
        while bytes.count < limit {
            let count = pread(file, &part, min(part.count, limit - bytes.count), off_t(position + bytes.count))
            guard count >= 0 else { throw error("read \(path)") }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        return bytes
    }
}
