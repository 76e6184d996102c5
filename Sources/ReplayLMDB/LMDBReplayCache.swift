internal import Glibc
public import MediaToken
internal import Threading
public import Timestamps

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
    /// Tokens issued up to this moment are refused, as they may have been used before the store began to remember. Moves when
    /// the store loses what it knows.
    public var fence: Timestamp { lock.withLock { lastFence } }

    private let configuration: Configuration
    private let lock = Lock()
    // All are used under the lock.
    private nonisolated(unsafe) var buckets: LMDBBuckets?
    private nonisolated(unsafe) var lastFence: Timestamp
    /// The latest time at which this process decided a claim. A new fence is never earlier.
    private nonisolated(unsafe) var latest: Timestamp
    private nonisolated(unsafe) var isClosed = false

    /// Opens the store in a directory, which is made where it is absent.
    ///
    /// - Parameters:
    ///   - path: the directory; its parent must exist.
    ///   - configuration: its settings.
    ///   - now: the fence of a store that begins now.
    /// - Throws: ``ReplayCacheError/unavailable(_:)`` with the path and what to do: no permission, no space, something else
    ///   lies there, it is damaged, or this process has it open already. Nothing but a store's files is ever removed, and those
    ///   only where some of them are missing or are not its own.
    public init(path: String, configuration: Configuration = Configuration(), at now: Timestamp = .now)
        throws(ReplayCacheError)
    {
        (self.path, self.configuration, latest) = (path, configuration, now)
        do throws(StoreFault) {
            let buckets = try LMDBSession.open(path, configuration, at: now, lost: nil)
            (self.buckets, lastFence) = (buckets, buckets.catalog.fence)
        } catch {
            throw .unavailable("\(path) \(error.what)")
        }
    }

    /// Decides the claims of a group, with one transaction for each bucket among them; see ``ReplayCache``.
    ///
    /// A store whose files were removed or replaced while it was open begins again, behind a fence.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>] {
        lock.withLock {
            do throws(StoreFault) {
                let (answers, fence) = (try ask(group, at: now), lastFence)
                let stands = try takeUpChanges(at: now)
                if stands, lastFence == fence { return answers }
                return zip(group, answers).map { claim, answer in
                    if claim.issued <= lastFence { return .success(.predatesStore(since: lastFence)) }
                    return stands ? answer : .failure(describe(.lost))
                }
            } catch {
                return group.map { _ in .failure(describe(error)) }
            }
        }
    }

    /// Drops what has passed. Claims do so by the way; this is for a store that nobody asks any more.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func sweep(at now: Timestamp) throws(ReplayCacheError) {
        try withBuckets(at: now) { (buckets) throws(StoreFault) in buckets.sweep(at: now) }
    }

    /// What it holds.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        try withBuckets(at: .now) { (buckets) throws(StoreFault) in
            ReplayStoreStatus(buckets: try buckets.counts(), bytes: buckets.bytes, fence: lastFence)
        }
    }

    /// Writes everything to the disk. The last user of the store also marks it as closed cleanly, so that it goes on where it
    /// was even after a restart of the machine. Claims are then errors.
    ///
    /// - Throws: ``ReplayCacheError``; the store is then left as by a killed process.
    public func close() throws(ReplayCacheError) {
        let outcome = lock.withLock { () -> Result<Void, ReplayCacheError> in
            isClosed = true
            defer { buckets = nil }
            do throws(StoreFault) { try buckets?.close() } catch { return .failure(describe(error)) }
            return .success(())
        }
        try outcome.get()
    }

    private func withBuckets<Value>(
        at now: Timestamp, _ body: (LMDBBuckets) throws(StoreFault) -> Value
    ) throws(ReplayCacheError) -> Value {
        let outcome = lock.withLock { () -> Result<Value, ReplayCacheError> in
            do throws(StoreFault) {
                _ = try takeUpChanges(at: now)
                return .success(try body(openBuckets(at: now)))
            } catch {
                return .failure(describe(error))
            }
        }
        return try outcome.get()
    }

    /// Called under the lock, as are those below.
    private func ask(
        _ group: [ReplayClaim], at now: Timestamp
    ) throws(StoreFault) -> [Result<ReplayAnswer, ReplayCacheError>] {
        try openBuckets(at: now).claim(group, fence: lastFence, at: now).map { $0.mapError(describe) }
    }

    /// Whether the store stands as it is open here, with what other processes have changed. Where it does not, it is opened again.
    private func takeUpChanges(at now: Timestamp) throws(StoreFault) -> Bool {
        if let buckets, try buckets.stand() {
            lastFence = buckets.catalog.fence
            return true
        }
        buckets = nil
        _ = try openBuckets(at: now)
        return false
    }

    private func openBuckets(at now: Timestamp) throws(StoreFault) -> LMDBBuckets {
        latest = max(latest, now)
        if let buckets { return buckets }
        guard !isClosed else { throw StoreFault("is closed") }
        let opened = try LMDBSession.open(path, configuration, at: latest, lost: lastFence)
        (buckets, lastFence) = (opened, opened.catalog.fence)
        return opened
    }

    private func describe(_ fault: StoreFault) -> ReplayCacheError {
        fault.isFull ? .full("\(path) has reached its limit of disk space") : .unavailable("\(path) \(fault.what)")
    }
}
