public import ReplayLMDB
public import ReplayRedis
public import MediaToken
public import Timestamps

/// A replay store, opened by its URL: `memory`, `lmdb:PATH`, or `redis://HOST`.
public enum ReplayStore: Sendable {
    /// In the memory of this process.
    case memory(MemoryReplayCache)
    /// In a directory of this host.
    case lmdb(LMDBReplayCache)
    /// On a server, or a cluster of them.
    case redis(RedisReplayCache)

    /// Opens the store that `url` names.
    ///
    /// - Parameters: as of ``init(at:makesNew:isService:clockSkew:now:)``.
    /// - Throws: ``ReplayStoreLocation/UnknownURL`` or `ReplayCacheError`.
    public init(
        opening url: String, makesNew: Bool = true, clockSkew: Duration = .zero, at now: Timestamp = .now
    ) throws {
        try self.init(at: try ReplayStoreLocation(url), makesNew: makesNew, clockSkew: clockSkew, now: now)
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - location: where it is.
    ///   - makesNew: whether a store is made where there is none.
    ///   - isService: whether it serves viewers: one in memory is then fenced too.
    ///   - clockSkew: by how much the fence of a store that begins now is put later.
    ///   - now: that fence.
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

    /// The store itself.
    public var cache: any ReplayCache {
        switch self {
        case .memory(let cache): cache
        case .lmdb(let cache): cache
        case .redis(let cache): cache
        }
    }

    /// What it holds.
    ///
    /// - Throws: `ReplayCacheError`.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        switch self {
        case .memory(let cache): cache.status()
        case .lmdb(let cache): try cache.status()
        case .redis(let cache): try cache.status()
        }
    }

    /// Drops what has passed.
    ///
    /// - Throws: `ReplayCacheError`.
    public func sweep(at now: Timestamp) throws(ReplayCacheError) {
        switch self {
        case .memory(let cache): cache.sweep(at: now)
        case .lmdb(let cache): try cache.sweep(at: now)
        // The server forgets each key at its moment, by itself.
        case .redis: break
        }
    }

    /// Whether it answers, as far as that can be seen without a claim.
    ///
    /// - Throws: `ReplayCacheError`.
    public func probe(at now: Timestamp) throws(ReplayCacheError) {
        switch self {
        case .memory: break
        case .lmdb(let cache): try cache.sweep(at: now)
        case .redis(let cache): try cache.open(at: now)
        }
    }

    /// Ends its use cleanly.
    ///
    /// - Throws: `ReplayCacheError`.
    public func close() throws(ReplayCacheError) {
        if case .lmdb(let cache) = self { try cache.close() }
    }
}
