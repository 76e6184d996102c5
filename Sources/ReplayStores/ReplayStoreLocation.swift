internal import ReplayLMDB
public import ReplayRedis

/// The location of a replay store, given by its URL: `memory`, `lmdb:PATH`, `redis://HOST`, or
/// `rediss://HOST`.
public enum ReplayStoreLocation: Sendable, Equatable {
    /// The memory of this process.
    case memory
    /// A directory of this host.
    case lmdb(path: String)
    /// A Redis server or a Redis Cluster.
    case redis(RedisConfiguration)

    /// The word for the kind of store, which its URL begins with.
    package var kind: String {
        switch self {
        case .memory: "memory"
        case .lmdb: "lmdb"
        case .redis(let configuration): configuration.tls == nil ? "redis" : "rediss"
        }
    }

    /// The files with the secrets that a store is asked with.
    package var secretFiles: [String] {
        guard case .redis(let configuration) = self else { return [] }
        return [configuration.passwordFile, configuration.tls?.key ?? configuration.tls?.certificate].compactMap(\.self)
    }

    /// The files that decide which server the store trusts.
    package var trustedFiles: [String] {
        guard case .redis(let configuration) = self else { return [] }
        return [configuration.tls?.authorities].compactMap(\.self)
    }

    /// The directory of a store on this host; `nil` for any other store.
    package var directory: String? {
        if case .lmdb(let path) = self { path } else { nil }
    }

    /// Why a store that exists would be refused, since somebody else can change its files; `nil` if it would not.
    package var refusal: String? {
        directory.flatMap { path in LMDBReplayStore.refusal(at: path).map { "\(path) \($0)" } }
    }

    /// What the URL permits that is unsafe, one sentence for each.
    package var warnings: [String] {
        if case .redis(let configuration) = self { configuration.warnings } else { [] }
    }

    /// Whether the location itself has a password in it.
    package var holdsPassword: Bool {
        if case .redis(let configuration) = self { configuration.password != nil } else { false }
    }

    /// The hosts of servers that are asked in clear text.
    package var clearTextHosts: [String] {
        guard case .redis(let configuration) = self, configuration.tls == nil else { return [] }
        return configuration.hosts.map(\.name)
    }

    /// Whether the store may be one that a gate uses: it exists, or is on a Redis server, which is not asked.
    package var mayBeInUse: Bool {
        switch self {
        case .memory: false
        case .lmdb(let path): LMDBReplayStore.exists(at: path)
        case .redis: true
        }
    }

    /// The accepted forms of the URL, for help texts and error messages.
    public static let forms = "memory, lmdb:PATH, redis://HOST, rediss://HOST"

    /// Parses `url` without opening the store.
    public init(_ url: String) throws(ReplayStoreURLError) {
        if url == "memory" {
            self = .memory
        } else if url.hasPrefix("lmdb:"), url.count > 5 {
            self = .lmdb(path: String(url.dropFirst(5)))
        } else if url.hasPrefix("redis:") || url.hasPrefix("rediss:") {
            do {
                self = .redis(try RedisConfiguration(url: url))
            } catch {
                throw ReplayStoreURLError(description: "the URL of the redis store: \(error)")
            }
        } else {
            // The message shows only the URL's scheme, because the rest may contain a password.
            let isSentinel = url.hasPrefix("redis+sentinel:") || url.hasPrefix("rediss+sentinel:")
            let kind = isSentinel ? url.prefix { $0 != ":" } : url.prefix { $0.isASCII && $0.isLetter }
            throw ReplayStoreURLError(
                description: "no replay store of the kind '\(kind)'; "
                    + (isSentinel
                        ? "name the primary that the Sentinel watches: redis://HOST or rediss://HOST"
                        : "expected one of \(Self.forms)"))
        }
    }
}

/// The error for a URL that names no replay store.
public struct ReplayStoreURLError: Error, CustomStringConvertible {
    /// The problem in one line, without anything that could be a password.
    public let description: String
}
