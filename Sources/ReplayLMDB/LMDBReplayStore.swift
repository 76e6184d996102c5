internal import Basics
internal import Glibc
public import MediaToken

/// A replay store in a directory of this host, shared by all processes of the host. It survives the death of any of
/// them at any instant, `kill -9` included.
///
/// A process writes its claims to the kernel's page cache and does not sync each of them. A crash of the *machine* may
/// lose or damage them. The kernel's boot ID reveals the crash, and the store then starts empty with a fence: tokens
/// issued before are answered `ReplayAnswer.predatesStore`. A new store has a fence too. A store that its
/// last user closed cleanly keeps its records across a restart of the machine.
///
/// Its users share a log of the tokens that were accepted, and each of them has those that have not expired in its
/// memory: a process that opens the store reads the log first. The store can be used from any number of threads at
/// once. A group takes one transaction for each 1024 claims.
public final class LMDBReplayStore: ReplayStore {
    /// Settings of a store.
    public struct Configuration: Sendable {
        /// The largest disk use in bytes. A full store answers `ReplayStoreError.full` until buckets expire.
        public var sizeLimit: Int
        /// How far Adobe's clock may be ahead of this host's clock; added to every fence that the store sets.
        public var clockSkew: Duration
        /// Whether to create the store if it does not exist.
        public var makesNew = true
        /// Whether a store that may have lost records is replaced by an empty one, whose fence is now. If it is not,
        /// the store cannot be opened.
        package var replacesLost = true
        /// The file from which the kernel's boot ID is read.
        var bootIDFile = "/proc/sys/kernel/random/boot_id"

        /// Creates settings of a store that may be created if it does not exist.
        ///
        /// - Parameters:
        ///   - sizeLimit: the largest disk use in bytes; 8 GiB hold more than 200 million entries. Set at least 4 MiB,
        ///     of which 3 MiB are LMDB's own; more than 16 GiB are never used.
        ///   - clockSkew: by how much a fence is placed later: the clock skew that the policy allows, or more.
        public init(sizeLimit: Int = 8 << 30, clockSkew: Duration = VerificationPolicy.defaultClockSkew) {
            self.sizeLimit = sizeLimit
            self.clockSkew = clockSkew
        }
    }

    /// The path of the store's directory.
    public let path: String
    /// Tokens issued up to this time are rejected, as they may have been used before the store's records began. The
    /// fence moves later if the store loses records.
    public var fence: Timestamp { lock.withLock { lastFence } }

    /// Why the store began with its fence, in one clause.
    package var fenceCause: String { lock.withLock { lastCause.text } }

    private let configuration: Configuration
    private let lock = Lock()
    // The properties below are used only under the lock.
    private nonisolated(unsafe) var store: LMDBStore?
    private nonisolated(unsafe) var lastFence: Timestamp
    private nonisolated(unsafe) var lastCause: FenceCause
    /// The latest time at which this process decided a claim. A new fence is never earlier.
    private nonisolated(unsafe) var latest: Timestamp
    private nonisolated(unsafe) var isClosed = false

    /// Opens the store in a directory, which is created if it is absent and the configuration allows that.
    ///
    /// It blocks the calling thread: for ten seconds at most while another process opens or closes the store, and then
    /// while it reads the store's log, about three seconds for ten million live tokens.
    ///
    /// - Parameters:
    ///   - path: the directory; its parent must exist.
    ///   - configuration: the store's settings.
    ///   - now: the current time, from which a new store's fence is computed.
    /// - Throws: `ReplayStoreError.unavailable` with the path and what to do: no permission, no space, the directory
    ///   contains something else, another user than root can change it or its files, or the store is damaged. Only a
    ///   store's own files are ever deleted: all of them if the machine crashed, or if some are missing or were
    ///   replaced.
    public init(path: String, configuration: Configuration = Configuration(), at now: Timestamp = .now)
        throws(ReplayStoreError)
    {
        (self.path, self.configuration, latest) = (path, configuration, now)
        do throws(LMDBError) {
            let store = try LMDBSession.open(path, configuration, at: now, lost: nil)
            (self.store, lastFence, lastCause) = (store, store.catalog.fence, store.catalog.cause)
        } catch {
            throw .unavailable("\(path) \(error.what)")
        }
    }

    /// Whether a directory has a store.
    package static func exists(at path: String) -> Bool { StoreDirectory.hasStore(path) }

    /// Why the store in a directory would be refused, since somebody else can change it; `nil` if it would not be, or
    /// if there is none.
    package static func refusal(at path: String) -> String? { StoreDirectory.refusal(at: path) }

    /// Decides the claims of a group, in order, as the protocol `ReplayStore` demands.
    ///
    /// A claim waits for a process that is stopped in the middle of its own for a quarter of a second, and is then
    /// answered with an error, however many threads claim meanwhile. If the store's files were removed or replaced
    /// while it was open, the store starts again with a new fence; that claim may wait as
    /// ``init(path:configuration:at:)`` does.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        claim(group, at: now, since: .now)
    }

    /// Decides the claims of a group like ``claim(_:at:)``, on a thread that may block. Claims that wait for that
    /// thread while others wait for a stopped process in vain get the same error, without a wait of their own.
    public func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>] {
        let begin = ContinuousClock.now
        return await BlockingCalls.perform { self.claim(group, at: now, since: begin) }
    }

    /// Decides the claims of a group like ``claim(_:at:)``, but only if neither another thread nor another process has
    /// to be waited for.
    ///
    /// - Returns: `nil` if one has to be; the claims then are as if nobody had made them.
    package func claimAtOnce(
        _ group: [ReplayClaim], at now: Timestamp
    ) -> [Result<ReplayAnswer, ReplayStoreError>]? {
        lock.withLockIfFree { decide(group, at: now, since: nil) } ?? nil
    }

    /// Decides claims that may wait.
    ///
    /// - Parameter begin: when the caller asked.
    package func claim(
        _ group: [ReplayClaim], at now: Timestamp, since begin: ContinuousClock.Instant
    ) -> [Result<ReplayAnswer, ReplayStoreError>] {
        lock.withLock { decide(group, at: now, since: begin) } ?? []
    }

    /// Decides the claims of a group. Called under the lock, as are the functions below.
    ///
    /// - Parameter begin: when the caller asked; `nil` if nothing may wait.
    /// - Returns: `nil` if something would have to wait.
    private func decide(
        _ group: [ReplayClaim], at now: Timestamp, since begin: ContinuousClock.Instant?
    ) -> [Result<ReplayAnswer, ReplayStoreError>]? {
        do throws(LMDBError) {
            guard begin != nil || store != nil && group.count <= LMDBStore.claimLimit else { return nil }
            let fence = lastFence
            let answers = try openStore(at: now).claim(group, fence: fence, at: now, since: begin)
            if begin == nil, answers.contains(where: \.isHeldUp) { return nil }
            // The answers of a lost store count for nothing, so the claims can be made again.
            guard let stands = try takeUpChanges(at: now, mayWait: begin != nil) else { return nil }
            return zip(group, answers).map { claim, answer in
                if lastFence != fence || !stands, claim.issued <= lastFence {
                    return .success(.predatesStore(since: lastFence))
                }
                return stands ? answer.mapError(describe) : .failure(describe(.lost(.inUse)))
            }
        } catch {
            return group.map { _ in .failure(describe(error)) }
        }
    }

    /// Deletes expired buckets. Claims do that too; call this for a store that gets no more claims.
    ///
    /// It blocks the calling thread until all are deleted. Each of its steps waits for other processes as a claim does.
    ///
    /// - Throws: `ReplayStoreError`.
    public func sweep(at now: Timestamp) throws(ReplayStoreError) {
        while try !sweepStep(at: now) {
            // Claims of this process and of others have their turns in between.
            usleep(50)
        }
    }

    /// Checks that the store can be written to. Deletes some of what has expired.
    ///
    /// - Throws: `ReplayStoreError`.
    package func probe(at now: Timestamp) throws(ReplayStoreError) {
        _ = try sweepStep(at: now)
    }

    private func sweepStep(at now: Timestamp) throws(ReplayStoreError) -> Bool {
        try withStore(at: now) { (store) throws(LMDBError) in try store.sweep(at: now) }
    }

    /// The store's contents: entries by expiry bucket, disk use and fence.
    ///
    /// It blocks the calling thread, and waits for other processes as a claim does.
    ///
    /// - Throws: `ReplayStoreError`.
    public func contents() throws(ReplayStoreError) -> ReplayStoreContents {
        try withStore(at: .now) { (store) throws(LMDBError) in
            ReplayStoreContents(buckets: try store.counts(), bytes: store.bytes, fence: lastFence)
        }
    }

    /// What a claim would find now, without making it: nothing is consumed, and no fence is moved.
    ///
    /// It blocks the calling thread, and waits for other processes as a claim does.
    ///
    /// - Throws: `ReplayStoreError`.
    package func find(_ question: ReplayQuestion, at now: Timestamp) throws(ReplayStoreError) -> ReplayLookupResult {
        try withStore(at: now) { (store) throws(LMDBError) in try store.find(question, fence: lastFence, at: now) }
    }

    /// Closes the store; later claims are answered with an error. If this process is the store's last user, it writes
    /// everything to disk and marks the store as closed cleanly, so that the records remain valid even after a restart
    /// of the machine.
    ///
    /// It blocks the calling thread: for ten seconds at most while another process opens or closes the store, and then
    /// while the last user writes to disk.
    ///
    /// - Throws: `ReplayStoreError`; the store is then in the state that a killed process leaves.
    public func close() throws(ReplayStoreError) {
        try lock.withLock { () throws(ReplayStoreError) in
            isClosed = true
            defer { store = nil }
            do throws(LMDBError) { try store?.close() } catch { throw describe(error) }
        }
    }

    private func withStore<Value>(
        at now: Timestamp, _ body: (LMDBStore) throws(LMDBError) -> Value
    ) throws(ReplayStoreError) -> Value {
        try lock.withLock { () throws(ReplayStoreError) in
            do throws(LMDBError) {
                _ = try takeUpChanges(at: now)
                return try body(openStore(at: now))
            } catch {
                throw describe(error)
            }
        }
    }

    /// Whether the open store still is the one at its path, once this process has read what others changed. If it is
    /// not, the store is opened again.
    ///
    /// - Returns: `nil` if it would have to be opened again, and nothing may wait.
    private func takeUpChanges(at now: Timestamp, mayWait: Bool = true) throws(LMDBError) -> Bool? {
        if let store, try store.isCurrent() {
            (lastFence, lastCause) = (store.catalog.fence, store.catalog.cause)
            return true
        }
        guard mayWait else { return nil }
        store = nil
        _ = try openStore(at: now)
        return false
    }

    private func openStore(at now: Timestamp) throws(LMDBError) -> LMDBStore {
        latest = max(latest, now)
        if let store { return store }
        guard !isClosed else { throw LMDBError("is closed") }
        let opened = try LMDBSession.open(path, configuration, at: latest, lost: lastFence)
        (store, lastFence, lastCause) = (opened, opened.catalog.fence, opened.catalog.cause)
        return opened
    }

    private func describe(_ fault: LMDBError) -> ReplayStoreError {
        fault.isFull ? .full("\(path) \(fault.what)") : .unavailable("\(path) \(fault.what)")
    }
}
