package import EventLoops
public import MediaToken
public import ReplayLMDB
public import ReplayRedis

/// A replay store, opened by its URL: `memory`, `lmdb:PATH`, `redis://HOST`, or `rediss://HOST`.
public enum ReplayStore: Sendable {
    /// A store in the memory of this process.
    case memory(MemoryReplayCache)
    /// A store in a directory of this host.
    case lmdb(LMDBReplayCache)
    /// A store on a Redis server or a Redis Cluster.
    case redis(RedisReplayCache)

    /// Opens the store that `url` names.
    ///
    /// - Parameters: see ``init(at:makesNew:isService:clockSkew:now:)``.
    /// - Throws: ``ReplayStoreURLError`` or `ReplayCacheError`.
    public init(
        opening url: String, makesNew: Bool = true, clockSkew: Duration = .zero, at now: Timestamp = .now
    ) throws {
        try self.init(at: try ReplayStoreLocation(url), makesNew: makesNew, clockSkew: clockSkew, now: now)
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - location: where the store is.
    ///   - makesNew: whether to create the store if it does not exist. A Redis store is created by its first claim anyway.
    ///   - isService: whether the store serves viewers; a memory store then has a fence too.
    ///   - clockSkew: by how much the fence of a new store is placed later than `now`.
    ///   - now: the current time, from which a new store's fence is computed.
    /// - Throws: `ReplayCacheError`.
    public init(
        at location: ReplayStoreLocation, makesNew: Bool = true, isService: Bool = false, clockSkew: Duration = .zero,
        now: Timestamp = .now
    ) throws(ReplayCacheError) {
        switch location {
        case .memory:
            let fence = now.advanced(byMilliseconds: clockSkew.clampedMilliseconds)
            self = .memory(MemoryReplayCache(fencedAt: isService ? fence : nil))
        case .lmdb(let path):
            var configuration = LMDBReplayCache.Configuration(clockSkew: clockSkew)
            configuration.makesNew = makesNew
            self = .lmdb(try LMDBReplayCache(path: path, configuration: configuration, at: now))
        case .redis(var configuration):
            configuration.clockSkew = clockSkew
            let cache = RedisReplayCache(configuration)
            if makesNew { try cache.open(at: now) }
            self = .redis(cache)
        }
    }

    /// The opened store, whatever its kind.
    public var cache: any ReplayCache {
        switch self {
        case .memory(let cache): cache
        case .lmdb(let cache): cache
        case .redis(let cache): cache
        }
    }

    /// Creates a session of the store for one event loop, which answers on that loop without blocking it; `nil` for a
    /// store whose answers are there at once, by ``cache``.
    package func session(on loop: EventLoop) -> (any PipelinedReplayCache)? {
        switch self {
        case .memory, .lmdb: nil
        case .redis(let cache): RedisReplayClient(cache.configuration, on: loop)
        }
    }

    /// The number of entries; `nil` if the store cannot tell, or only by going through all of them.
    package var entries: Int? {
        switch self {
        case .memory, .lmdb: try? status().entries
        case .redis: nil
        }
    }

    /// What the operator states about the store, as its URL has it: the store cannot check it and relies on it.
    package var statements: [String] {
        switch self {
        case .memory, .lmdb: []
        case .redis(let cache): cache.configuration.statements
        }
    }

    /// The store's contents: entries by expiry bucket, size and fence.
    ///
    /// - Throws: `ReplayCacheError`.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        switch self {
        case .memory(let cache): cache.status()
        case .lmdb(let cache): try cache.status()
        case .redis(let cache): try cache.status()
        }
    }

    /// Deletes expired buckets. A Redis server deletes expired keys by itself.
    ///
    /// - Throws: `ReplayCacheError`.
    public func sweep(at now: Timestamp) throws(ReplayCacheError) {
        switch self {
        case .memory(let cache): cache.sweep(at: now)
        case .lmdb(let cache): try cache.sweep(at: now)
        // The server deletes each key when it expires.
        case .redis: break
        }
    }

    /// Checks that the store works, as far as that is possible without a replay claim.
    ///
    /// - Throws: `ReplayCacheError`.
    public func probe(at now: Timestamp) throws(ReplayCacheError) {
        switch self {
        case .memory: break
        case .lmdb(let cache): try cache.probe(at: now)
        case .redis(let cache): try cache.open(at: now)
        }
    }

    /// Closes the store cleanly.
    ///
    /// - Throws: `ReplayCacheError`.
    public func close() throws(ReplayCacheError) {
        if case .lmdb(let cache) = self { try cache.close() }
    }
}
