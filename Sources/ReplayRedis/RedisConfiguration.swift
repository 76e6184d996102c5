internal import FoundationEssentials
internal import TextEncodings

/// Where a Redis store is, and how it is asked. From a URL:
///
///     redis://[user:password@]host[:port][/db][?cluster=true&prefix=…&timeout=…&wait=N&eviction=none]
public struct RedisConfiguration: Sendable, Equatable {
    /// A URL that cannot be read. Its text never holds a password.
    public struct Problem: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// A name or an address. A name is looked up whenever a connection is made, which a slow resolver holds up.
    public var host: String
    /// Its port.
    public var port: UInt16 = 6379
    /// The ACL user; `nil` for the default user.
    public var user: String?
    /// Its password; `nil` for none.
    public var password: String?
    /// The numbered database. A cluster has 0 only.
    public var database = 0
    /// Whether the host is a node of a Redis Cluster.
    public var isCluster = false
    /// What all keys of this store begin with. Stores with different prefixes know nothing of each other.
    public var prefix = "media-token"
    /// Milliseconds that a claim may take, connecting included. After that the store cannot tell.
    public var timeoutMilliseconds = 250
    /// Replicas that must confirm a claim before it is answered (`WAIT`).
    public var replicas = 0
    /// Whether the operator states that the server never evicts keys, which a managed service may not let clients read. What
    /// the server does tell about that still decides.
    public var assumesNoEviction = false
    /// How far Adobe's clock may be ahead of ours: added to the fence of a store without a past.
    public var clockSkew: Duration = .zero

    /// The server at `host`, with defaults for all the rest.
    public init(host: String) {
        self.host = host
    }

    /// Reads a URL.
    ///
    /// - Throws: ``Problem``.
    public init(url: String) throws(Problem) {
        guard let parts = URLComponents(string: url), parts.scheme == "redis", let host = parts.host, !host.isEmpty
        else {
            throw Problem(description: "cannot be read; expected \(Self.form)")
        }
        // Behind the host it is the rest of a login with a slash or a question mark in its password, which nobody must see.
        guard !(parts.percentEncodedPath + (parts.percentEncodedQuery ?? "")).contains("@") else {
            throw Problem(description: "has an @ behind the host; write / as %2F, ? as %3F and @ as %40 in a password")
        }
        // In brackets where it is an IPv6 address.
        self.init(host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
        if let number = parts.port {
            guard let port = UInt16(exactly: number), port > 0 else {
                throw Problem(description: "the port is \(number); expected 1 to 65535")
            }
            self.port = port
        }
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password
        guard user == nil || password != nil else {
            throw Problem(description: "has a user without a password; expected user:password@ or :password@")
        }
        database = try Self.database(in: parts.path)
        for item in parts.queryItems ?? [] { try set(item.name, to: item.value ?? "") }
        guard !isCluster || database == 0 else {
            throw Problem(description: "names database \(database) of a cluster, which has none but 0")
        }
    }

    /// The form of the URL, for help and messages.
    public static let form =
        "redis://[user:password@]host[:port][/db]"
        + "[?cluster=true&prefix=TEXT&timeout=MILLISECONDS&wait=REPLICAS&eviction=none]"

    private static func database(in path: String) throws(Problem) -> Int {
        let name = path.drop { $0 == "/" }
        guard !name.isEmpty else { return 0 }
        guard let number = Int(name), number >= 0 else {
            throw Problem(description: "the database is '\(printable(String(name)))'; expected a number from 0")
        }
        return number
    }

    private mutating func set(_ name: String, to value: String) throws(Problem) {
        func number(_ range: ClosedRange<Int>) throws(Problem) -> Int {
            guard let number = Int(value), range.contains(number) else {
                let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
                throw Problem(description: "\(name) is '\(printable(value))'; expected \(expected)")
            }
            return number
        }
        switch name {
        case "cluster":
            guard let flag = Bool(value) else {
                throw Problem(description: "cluster is '\(printable(value))'; expected true or false")
            }
            isCluster = flag
        case "prefix":
            // Braces would change which part of a key a cluster hashes.
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x7B && $0 != 0x7D }) else {
                throw Problem(description: "prefix is '\(printable(value))'; expected printable ASCII without braces")
            }
            prefix = value
        case "timeout": timeoutMilliseconds = try number(1...60_000)
        case "wait": replicas = try number(0...100)
        case "eviction":
            guard value == "none" else {
                throw Problem(description: "eviction is '\(printable(value))'; expected none")
            }
            assumesNoEviction = true
        default:
            let known = "cluster, prefix, timeout, wait and eviction"
            throw Problem(description: "has the setting '\(printable(name))'; known are \(known)")
        }
    }

    var address: RedisAddress { RedisAddress(host: host, port: Int32(port)) }
}
