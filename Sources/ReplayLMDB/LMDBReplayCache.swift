internal import Glibc
public import MediaToken
internal import Threading

/// A replay store in a directory of this host, shared by all of its processes. It survives the death of any of them at any
/// instant, `kill -9` included.
///
/// What a process wrote lies in the kernel's page cache and is not synced claim by claim. A crash of the *machine* may lose
/// or damage it; the kernel's boot ID tells that it happened, and the store then starts empty behind a fence: tokens issued
/// before are ``ReplayAnswer/predatesStore(since:)``. So does a new store. A store that its last user closed cleanly goes
/// on where it was.
///
/// Safe to use from any number of threads at once; the claims of a group take one transaction for each bucket among them.
public final class LMDBReplayCache: ReplayCache {
    /// Settings of a store.
    public struct Configuration: Sendable {
        /// Bytes on the disk at the most. A full store answers ``ReplayCacheError/full(_:)`` until buckets pass.
        public var sizeLimit: Int
        /// How far Adobe's clock may be ahead of ours: added to the fence of a store without a past.
        public var clockSkew: Duration
        /// Whether a store is made where there is none.
        public var makesNew = true
        /// Where the kernel tells its boot ID.
        var bootIDFile = "/proc/sys/kernel/random/boot_id"

        /// - Parameters:
        ///   - sizeLimit: bytes on the disk at the most; 8 GiB hold more than 100 million live tokens.
        ///   - clockSkew: by how much a fence is put later.
        public init(sizeLimit: Int = 8 << 30, clockSkew: Duration = .zero) {
            self.sizeLimit = sizeLimit
            self.clockSkew = clockSkew
        }
    }

    /// The directory.
    public let path: String
    /// Tokens issued up to this moment are refused, as they may have been used before the store began to remember.
    public let fence: Timestamp

    private let lock = Lock()
    private let identity: String
    // Neither is Sendable. The buckets, `nil` once closed, are used under the lock, and close() the directory after that.
    private nonisolated(unsafe) let directory: StoreDirectory
    private nonisolated(unsafe) var buckets: LMDBBuckets?

    /// Opens the store in a directory, which is made where it is absent.
    ///
    /// - Parameters:
    ///   - path: the directory; its parent must exist.
    ///   - configuration: its settings.
    ///   - now: the fence of a store that begins now.
    /// - Throws: ``ReplayCacheError/unavailable(_:)`` with the path and what to do: no permission, no space, something else
    ///   lies there, it is damaged, or this process has it open already. Nothing is ever replaced silently.
    public init(path: String, configuration: Configuration = Configuration(), at now: Timestamp = .now)
        throws(ReplayCacheError)
    {
        self.path = path
        do throws(StoreFault) {
            let directory = try StoreDirectory(path, makesNew: configuration.makesNew)
            identity = directory.identity
            guard OpenStores.shared.enter(identity) else {
                throw StoreFault("is open in this process already; share the one store")
            }
            var isOpen = false
            defer { if !isOpen { OpenStores.shared.leave(directory.identity) } }
            let session = try LMDBSession.begin(in: directory, configuration, at: now)
            self.directory = directory
            fence = Timestamp(milliseconds: session.fence)
            buckets = session.buckets
            isOpen = true
        } catch {
            throw .unavailable("\(path) \(error.what)")
        }
    }

    deinit {
        // Without close() the store is left as by a killed process, which loses nothing unless the machine crashes.
        guard buckets != nil else { return }
        buckets = nil
        OpenStores.shared.leave(identity)
    }

    /// Decides the claims of a group, with one transaction for each bucket among them; see ``ReplayCache``.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>] {
        lock.withLock {
            guard let buckets else { return group.map { _ in .failure(.unavailable("\(path) is closed")) } }
            return buckets.claim(group, fence: fence, at: now).map { $0.mapError(describe) }
        }
    }

    /// Drops what has passed. Claims do so by the way; this is for a store that nobody asks any more.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func sweep(at now: Timestamp) throws(ReplayCacheError) {
        try withBuckets { (buckets) throws(LMDBError) in buckets.sweep(at: now) }
    }

    /// What it holds.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        let (counts, size) = try withBuckets { (buckets) throws(LMDBError) in (try buckets.counts(), buckets.bytes) }
        return ReplayStoreStatus(buckets: counts, bytes: size, fence: fence)
    }

    /// Writes everything to the disk. The last user of the store also marks it as closed cleanly, so that it goes on where it
    /// was even after a restart of the machine. Claims are then errors.
    ///
    /// - Throws: ``ReplayCacheError``; the store is then left as by a killed process.
    public func close() throws(ReplayCacheError) {
        let wasOpen = lock.withLock {
            defer { buckets = nil }
            return buckets != nil
        }
        guard wasOpen else { return }
        defer {
            directory.leave()
            OpenStores.shared.leave(identity)
        }
        do {
            // In this order: nobody claims any more, nobody else can, all that anybody claimed is on the disk, and so it says.
            guard directory.takeAlone(), var record = try directory.record() else { return }
            try directory.sync()
            record.isClosed = true
            try directory.write(record)
        } catch {
            throw .unavailable("\(path) \(error.what)")
        }
    }

    private func withBuckets<Value>(
        _ body: (LMDBBuckets) throws(LMDBError) -> Value
    ) throws(ReplayCacheError) -> Value {
        let outcome = lock.withLock { () -> Result<Value, ReplayCacheError> in
            guard let buckets else { return .failure(.unavailable("\(path) is closed")) }
            do throws(LMDBError) { return .success(try body(buckets)) } catch { return .failure(describe(error)) }
        }
        return try outcome.get()
    }

    private func describe(_ error: LMDBError) -> ReplayCacheError {
        if error.isMapFull { return .full("\(path) has reached its limit of disk space") }
        return .unavailable("\(path) \(error.reason)")
    }
}

/// The stores that this process has open. LMDB must not open a file twice in one process: closing one would take away the
/// locks of the other.
private final class OpenStores: Sendable {
    static let shared = OpenStores()

    private let lock = Lock()
    private nonisolated(unsafe) var places: Set<String> = []

    /// Whether it was not open yet.
    func enter(_ identity: String) -> Bool {
        lock.withLock { places.insert(identity).inserted }
    }

    func leave(_ identity: String) {
        _ = lock.withLock { places.remove(identity) }
    }
}
