package import EventLoops
public import MediaToken
public import ReplayLMDB
public import ReplayRedis

/// A replay store, opened by its URL: `memory`, `lmdb:PATH`, `redis://HOST`, or `rediss://HOST`.
public enum ConfiguredReplayStore: ReplayStore {
    /// A store in the memory of this process.
    case memory(MemoryReplayStore)
    /// A store in a directory of this host.
    case lmdb(LMDBReplayStore)
    /// A store on a Redis server or a Redis Cluster.
    case redis(RedisReplayStore)

    /// Opens the store that `url` names.
    ///
    /// - Parameters:
    ///   - url: the URL of the store.
    ///   - makesNew: whether to create the store if it does not exist.
    ///   - clockSkew: by how much the fence of a new store is placed later than `now`.
    ///   - now: the current time, from which a new store's fence is computed.
    /// - Throws: ``ReplayStoreURLError`` or `ReplayStoreError`.
    public init(
        opening url: String, makesNew: Bool = true, clockSkew: Duration, at now: Timestamp = .now
    ) throws {
        try self.init(
            at: try ReplayStoreLocation(url), makesNew: makesNew, isService: false, clockSkew: clockSkew, now: now)
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - location: where the store is.
    ///   - makesNew: whether to create the store if it does not exist. A Redis store is created by its first claim
    ///     anyway.
    ///   - isService: whether the store serves viewers; a memory store then has a fence too.
    ///   - clockSkew: by how much the fence of a new store is placed later than `now`.
    ///   - now: the current time, from which a new store's fence is computed.
    /// - Throws: `ReplayStoreError`.
    public init(
        at location: ReplayStoreLocation, makesNew: Bool = true, isService: Bool, clockSkew: Duration,
        now: Timestamp = .now
    ) throws(ReplayStoreError) {
        switch location {
        case .memory:
            let fence = now.advanced(byMilliseconds: clockSkew.clampedMilliseconds)
            self = .memory(isService ? MemoryReplayStore(fencedAt: fence) : .unfenced())
        case .lmdb(let path):
            var configuration = LMDBReplayStore.Configuration(clockSkew: clockSkew)
            configuration.makesNew = makesNew
            self = .lmdb(try LMDBReplayStore(path: path, configuration: configuration, at: now))
        case .redis(var configuration):
            configuration.clockSkew = clockSkew
            let store = RedisReplayStore(configuration)
            if makesNew { try store.open(at: now) }
            self = .redis(store)
        }
    }

    /// Opens an existing store to look tokens up, without moving its fence or beginning it again. There is no looking
    /// into the memory of another process.
    ///
    /// - Throws: `ReplayStoreError`.
    package init(lookingAt location: ReplayStoreLocation, now: Timestamp = .now) throws(ReplayStoreError) {
        guard case .lmdb(let path) = location else {
            try self.init(
                at: location, makesNew: false, isService: false, clockSkew: VerificationPolicy.largestClockSkew,
                now: now)
            return
        }
        var configuration = LMDBReplayStore.Configuration(clockSkew: VerificationPolicy.largestClockSkew)
        (configuration.makesNew, configuration.replacesLost) = (false, false)
        self = .lmdb(try LMDBReplayStore(path: path, configuration: configuration, at: now))
    }

    /// What a claim would find now, without making it.
    ///
    /// - Throws: `ReplayStoreError`.
    package func find(_ question: ReplayQuestion, at now: Timestamp) throws(ReplayStoreError) -> ReplayLookupResult {
        switch self {
        case .memory: throw .unavailable("a memory store is known to its own process only")
        case .lmdb(let store): try store.find(question, at: now)
        case .redis(let store): try store.find(question, at: now)
        }
    }

    /// Connects the store to one event loop, on which it then answers without blocking; `nil` for a store whose answers
    /// are there at once, by ``claim(_:at:)``, and if no descriptor is left.
    package func claimer(on loop: EventLoop) -> ReplayClaimer? {
        switch self {
        case .memory: nil
        case .lmdb(let store): (try? LoopClaims(store, on: loop))?.claim
        case .redis(let store): RedisQuorum(store.configuration, on: loop).claim
        }
    }

    /// The number of entries; `nil` if the store cannot tell, or only by going through all of them.
    package var entries: Int? {
        switch self {
        case .memory, .lmdb: try? contents().entries
        case .redis: nil
        }
    }

    /// What the operator states about the store, as its URL has it: the store cannot check it and relies on it.
    package var statements: [String] {
        switch self {
        case .memory, .lmdb: []
        case .redis(let store): store.configuration.statements
        }
    }

    /// What the store's URL permits that is unsafe, one sentence for each.
    package var warnings: [String] {
        if case .redis(let store) = self { store.configuration.warnings } else { [] }
    }

    /// Advises the operator on settings with which a fault of the store's servers costs less, in one sentence; `nil` if
    /// all is set so, or the servers do not report it.
    package var advice: String? {
        if case .redis(let store) = self { (try? store.advice()) ?? nil } else { nil }
    }

    /// Why the store has a fence, in one clause.
    package var fenceCause: String {
        switch self {
        case .memory: "the replay store is in memory, and begins with the gate"
        case .lmdb(let store): store.fenceCause
        case .redis: "the replay store is new, or its server lost what it knew"
        }
    }

    /// The store's contents: entries by expiry bucket, size and fence.
    ///
    /// - Throws: `ReplayStoreError`.
    public func contents() throws(ReplayStoreError) -> ReplayStoreContents {
        switch self {
        case .memory(let store): store.contents()
        case .lmdb(let store): try store.contents()
        case .redis(let store): try store.contents()
        }
    }

    /// Deletes expired buckets. A Redis server deletes expired keys by itself.
    ///
    /// - Throws: `ReplayStoreError`.
    public func sweep(at now: Timestamp) throws(ReplayStoreError) {
        switch self {
        case .memory(let store): store.sweep(at: now)
        case .lmdb(let store): try store.sweep(at: now)
        case .redis: break
        }
    }

    /// Checks that the store works, as far as that is possible without a replay claim.
    ///
    /// - Returns: the store's fence; `nil` if it has none. Tokens issued up to this time are rejected.
    /// - Throws: `ReplayStoreError`.
    @discardableResult
    public func probe(at now: Timestamp) throws(ReplayStoreError) -> Timestamp? { try report(at: now).fence }

    /// Checks the store like ``probe(at:)``, and reports which of a quorum's servers are away.
    ///
    /// - Throws: `ReplayStoreError`.
    package func report(at now: Timestamp) throws(ReplayStoreError) -> ReplayStoreReport {
        switch self {
        case .memory(let store): return ReplayStoreReport(fence: store.fence)
        case .lmdb(let store):
            try store.probe(at: now)
            return ReplayStoreReport(fence: store.fence)
        case .redis(let store): return try store.report(at: now)
        }
    }

    /// Closes the store cleanly.
    ///
    /// - Throws: `ReplayStoreError`.
    public func close() throws(ReplayStoreError) {
        if case .lmdb(let store) = self { try store.close() }
    }

    /// Decides the claims of a group; see `ReplayStore`.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        switch self {
        case .memory(let store): store.claim(group, at: now)
        case .lmdb(let store): store.claim(group, at: now)
        case .redis(let store): store.claim(group, at: now)
        }
    }

    /// Decides the claims of a group without blocking the thread; see `ReplayStore`.
    public func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>] {
        switch self {
        case .memory(let store): await store.claimWithoutBlocking(group, at: now)
        case .lmdb(let store): await store.claimWithoutBlocking(group, at: now)
        case .redis(let store): await store.claimWithoutBlocking(group, at: now)
        }
    }
}
