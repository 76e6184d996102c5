public import ReplayRedis
internal import TextEncodings

/// Where a replay store is, as its URL says: `memory`, `lmdb:PATH`, or `redis://HOST`.
public enum ReplayStoreLocation: Sendable, Equatable {
    /// In the memory of this process.
    case memory
    /// In a directory of this host.
    case lmdb(path: String)
    /// On a server, or a cluster of them.
    case redis(RedisConfiguration)

    /// The URLs that are understood, for help and messages.
    public static let forms = "memory, lmdb:PATH, redis://HOST"

    /// A URL that names no store.
    public struct UnknownURL: Error, CustomStringConvertible {
        /// One line, without what could be a password.
        public let description: String
    }

    /// Reads `url`; nothing is opened.
    public init(_ url: String) throws(UnknownURL) {
        if url == "memory" {
            self = .memory
        } else if url.hasPrefix("lmdb:"), url.count > 5 {
            self = .lmdb(path: String(url.dropFirst(5)))
        } else if url.hasPrefix("redis:") {
            do {
                self = .redis(try RedisConfiguration(url: url))
            } catch {
                throw UnknownURL(description: "the URL of the redis store \(error)")
            }
        } else {
            // No more of it: a URL may hold a password.
            let kind = printable(String(url.prefix { $0 != ":" }))
            throw UnknownURL(description: "no replay store of the kind '\(kind)'; expected one of \(Self.forms)")
        }
    }
}
