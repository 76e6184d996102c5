public import MediaToken
public import ReplayLMDB
public import ReplayRedis

/// A replay store, opened by its URL: `memory`, `lmdb:PATH`, or `redis://HOST`.
public enum ReplayStore: Sendable {
    /// In the memory of this process.
    case memory(MemoryReplayCache)
    /// In a directory of this host.
    case lmdb(LMDBReplayCache)
    /// On a server, or a cluster of them.
    case redis(RedisReplayCache)

    /// The URLs that are understood, for help and messages.
    public static let forms = "memory, lmdb:PATH, redis://HOST"

    /// A URL that names no store.
    public struct UnknownURL: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// Opens the store that `url` names.
    ///
    /// - Parameters:
    ///   - url: see ``forms``.
    ///   - makesNew: whether a store is made where there is none.
    ///   - isService: whether it serves viewers: one in memory is then fenced too.
    ///   - clockSkew: by how much the fence of a store that begins now is put later.
    ///   - now: that fence.
    /// - Throws: ``UnknownURL`` or `ReplayCacheError`.
    public init(
        opening url: String, makesNew: Bool = true, isService: Bool = false, clockSkew: Duration = .zero,
        at now: Timestamp = .now
    ) throws {
        if url == "memory" {
            let fence = now.advanced(byMilliseconds: clockSkew.clampedMilliseconds)
            self = .memory(MemoryReplayCache(fencedAt: isService ? fence : nil))
        } else if url.hasPrefix("lmdb:"), url.count > 5 {
            var configuration = LMDBReplayCache.Configuration(clockSkew: clockSkew)
            configuration.makesNew = makesNew
            self = .lmdb(try LMDBReplayCache(path: String(url.dropFirst(5)), configuration: configuration, at: now))
        } else if url.hasPrefix("redis:") {
            let cache = RedisReplayCache(try Self.redis(url, clockSkew: clockSkew))
            if makesNew { try cache.open(at: now) }
            self = .redis(cache)
        } else {
            // No more of it: a URL may hold a password.
            let kind = printable(String(url.prefix { $0 != ":" }))
            throw UnknownURL(description: "no replay store of the kind '\(kind)'; expected one of \(Self.forms)")
        }
    }

    private static func redis(_ url: String, clockSkew: Duration) throws(UnknownURL) -> RedisConfiguration {
        do {
            var configuration = try RedisConfiguration(url: url)
            configuration.clockSkew = clockSkew
            return configuration
        } catch {
            throw UnknownURL(description: "the URL of the redis store \(error)")
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
