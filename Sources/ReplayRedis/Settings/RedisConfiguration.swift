internal import Basics
internal import FoundationEssentials
internal import MediaToken
internal import Settings

/// The location of a Redis store, and the way in which it is asked. It can be read from a URL of the form ``form``.
public struct RedisConfiguration: Sendable, Equatable {
    /// The error for a URL that cannot be read.
    public struct URLError: Error, CustomStringConvertible {
        /// The problem in one line, without anything that could be a password.
        public let description: String
    }

    /// What the store shows and demands when it speaks TLS.
    public struct TLS: Sendable, Equatable {
        /// The path of the authorities' certificates as PEM; `nil` for the authorities that the host trusts.
        public var authorities: String?
        /// The path of the store's own certificate as PEM; `nil` for none.
        public var certificate: String?
        /// The path of the certificate's private key as PEM, without a password; `nil` if it is in the certificate's
        /// file.
        public var key: String?
        /// The name that every server's certificate must have; `nil` for the host that is connected to.
        public var name: String?

        /// Trusts the authorities that the host trusts, and shows no certificate.
        public init() {}
    }

    /// A server, by its name or address, and its port.
    public struct Host: Sendable, Hashable {
        /// The server's name or address. A name is looked up whenever a connection is made.
        public var name: String
        /// The server's port.
        public var port: UInt16

        /// The server with this name or address.
        public init(name: String, port: UInt16 = 6379) {
            (self.name, self.port) = (name, port)
        }

        /// The host as markers name it.
        var text: String { "\(name.lowercased()):\(port)" }
    }

    /// The name or the address of the server. A name is looked up whenever a connection is made; the last known
    /// addresses serve while the resolver is slow.
    public var host: String
    /// The server's port.
    public var port: UInt16 = 6379
    /// The servers after the first: further nodes of the cluster, each of which knows the owners of all slots, or the
    /// other servers of the quorum.
    public var otherHosts: [Host] = []
    /// Whether a majority of the hosts decides each claim. They are then independent servers or, with ``isCluster``,
    /// one node each of independent clusters. All users of the store must name the same hosts.
    public var isQuorum = false
    /// The ACL user; `nil` for the default user.
    public var user: String?
    /// The user's password; `nil` for none.
    public var password: String?
    /// The path of a file whose first line is the password. It is read whenever a connection is made.
    public var passwordFile: String?
    /// The numbered database. A cluster has 0 only.
    public var database = 0
    /// Whether the host is a node of a Redis Cluster.
    public var isCluster = false
    /// How to speak TLS; `nil` for TCP alone.
    public var tls: TLS?
    /// The beginning of all keys of this store. Stores with different prefixes know nothing of each other.
    public var prefix = "media-token"
    /// The time that a claim may take, including the time to connect. After that the store cannot decide. A URL with
    /// several hosts sets one second, since these may be far apart.
    public var timeout = Duration.milliseconds(250)
    /// The number of replicas that must confirm a claim before it is answered (`WAIT`); `nil` for one replica in a
    /// cluster, on each primary that has any, and none on a single server.
    ///
    /// In a cluster 0 is unsafe: a primary that was paused until a replica had taken over may accept a token that its
    /// successor accepts too.
    public var replicas: Int?
    /// Whether the operator states that the server never evicts keys, which a managed service may not let clients read.
    /// What the server does report about that still decides.
    public var assumesNoEviction = false
    /// Whether the operator states that the server answers a write only after it has been stored where neither a
    /// restart nor a failover loses it, as services with a replicated log do. It counts only for a server that lets
    /// nobody read its settings (`CONFIG GET`); settings that can be read still decide.
    public var assumesDurability = false
    /// Whether the operator states that other regions have stores of their own, so that each accepts a token once.
    public var isOfRegion = false
    /// How far Adobe's clock may be ahead of the host's: added to the fence of a store without a past.
    public var clockSkew: Duration = VerificationPolicy.defaultClockSkew
    /// All hosts of the quorum that this server belongs to; `nil` for a server on its own.
    private(set) var quorum: [Host]?

    /// The server at `host`, with defaults for all the rest.
    public init(host: String) {
        self.host = host
    }

    /// Reads a URL.
    ///
    /// - Throws: ``URLError``.
    public init(url: String) throws(URLError) {
        // Nobody must see the rest, which may be that of a password.
        guard !url.contains("#") else { throw URLError(description: "has a #; write # as %23 in a password") }
        let (url, others) = try Self.split(url)
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, ["redis", "rediss"].contains(scheme),
            let first = Self.host(parts)
        else { throw URLError(description: "cannot be read; expected \(Self.form)") }
        // An @ after the host means that a password has a slash or a question mark in it, and nobody must see the rest.
        guard !(parts.percentEncodedPath + (parts.percentEncodedQuery ?? "")).contains("@") else {
            throw URLError(description: "has an @ after the host; write / as %2F, ? as %3F and @ as %40 in a password")
        }
        self.init(host: first)
        port = try Self.port(parts)
        otherHosts = try others.map { text throws(URLError) in
            guard let parts = URLComponents(string: "redis://" + text), let host = Self.host(parts) else {
                throw URLError(description: "has a host '\(printable(text, limit: 40))'; expected NAME or NAME:PORT")
            }
            return Host(name: host, port: try Self.port(parts))
        }
        if !otherHosts.isEmpty { timeout = .seconds(1) }
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password
        database = try Self.database(in: parts.path)
        var query = Self.table.object(query: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        var draft = RedisURLDraft(configuration: self)
        Self.table.read(&query, into: &draft)
        self = draft.configuration
        if scheme == "rediss" {
            tls = draft.tls
        } else {
            for name in ["tls-ca", "tls-certificate", "tls-key", "tls-name"] where query.wasTaken(name) {
                query.refuse(name, "is given without TLS; expected rediss://")
            }
        }
        check(&query)
        guard query.problems.isEmpty else {
            throw URLError(description: query.problems.map(\.description).joined(separator: "; "))
        }
    }

    /// Checks what depends on several parts of a URL.
    private func check(_ query: inout SettingsObject) {
        if user != nil, password == nil, passwordFile == nil {
            query.refuse(nil, "has a user without a password; expected user:password@, :password@ or password-file")
        }
        if password != nil, passwordFile != nil {
            query.refuse(nil, "has a password and a password-file; expected one of them")
        }
        if tls?.key != nil, tls?.certificate == nil {
            query.refuse(nil, "has tls-key without tls-certificate; expected both")
        }
        let count = hosts.count
        if isQuorum, ![3, 5, 7].contains(count) || Set(hosts.map(\.text)).count < count {
            query.refuse("quorum", "is given with \(count) hosts; expected 3, 5 or 7 that differ")
        }
        if !isQuorum, !isCluster, count > 1 {
            query.refuse(
                nil,
                "has \(count) hosts; expected cluster=true for nodes of one cluster, or quorum=true for servers that "
                    + "know nothing of each other")
        }
        if isCluster, database != 0 {
            query.refuse(nil, "names database \(database) of a cluster, which has none but 0")
        }
    }

    /// The settings of the URL's query.
    private static let table = SettingsTable<RedisURLDraft>([
        .flag("cluster", "Whether the host is a node of a Redis Cluster", \.configuration.isCluster),
        .flag("quorum", "Whether a majority of the hosts decides", \.configuration.isQuorum),
        Setting("prefix", "TEXT", .text(), "Beginning of all keys of the store") { query, name, draft in
            // Braces would change which part of a key a cluster hashes.
            let prefix = query.value(name, "printable ASCII without braces") { text in
                !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x7B && $0 != 0x7D }
                    ? text : nil
            }
            draft.configuration.prefix = prefix ?? draft.configuration.prefix
        },
        .number("timeout", "MILLISECONDS", "Time that a claim may take", 1...60_000, \.configuration.timeout) {
            .milliseconds($0)
        },
        .number("wait", "REPLICAS", "Replicas that must confirm a claim", 0...100, \.configuration.replicas) { $0 },
        statement("eviction", "none", "State that the server never evicts keys", \.configuration.assumesNoEviction),
        statement("durable", "server", "State that the server loses no write", \.configuration.assumesDurability),
        statement("scope", "region", "State that other regions have other stores", \.configuration.isOfRegion),
        file("password-file", "File with the password", \.configuration.passwordFile),
        file("tls-ca", "Authorities to trust", \.tls.authorities),
        file("tls-certificate", "Certificate to show", \.tls.certificate),
        file("tls-key", "Private key of the certificate", \.tls.key),
        Setting("tls-name", "NAME", .text(), "Name that the server's certificate must have") { query, name, draft in
            draft.tls.name = query.value(name, "the name of a host") { $0.isEmpty || $0.hasPrefix(".") ? nil : $0 }
        },
    ])

    /// What the operator states about the server, by the only value that the setting may have.
    private static func statement(
        _ name: String, _ word: String, _ help: String, _ path: any WritableKeyPath<RedisURLDraft, Bool> & Sendable
    ) -> Setting<RedisURLDraft> {
        Setting(name, word, .word([word]), help) { query, name, draft in
            draft[keyPath: path] = query.word(name, [word]) != nil
        }
    }

    private static func file(
        _ name: String, _ help: String, _ path: any WritableKeyPath<RedisURLDraft, String?> & Sendable
    ) -> Setting<RedisURLDraft> {
        Setting(name, "FILE", .text(), help) { query, name, draft in
            draft[keyPath: path] = query.value(name, "the path of a file") { $0.isEmpty ? nil : $0 }
        }
    }

    /// The form of the URL, for help texts and error messages.
    public static let form =
        "redis[s]://[user:password@]host[:port][,host…][/db][?"
        + table.settings.map { "\($0.name)=\($0.placeholder ?? "true")" }.joined(separator: "&") + "]"

    /// Takes all hosts but the first out of a URL. A comma may be part of a password too.
    private static func split(_ url: String) throws(URLError) -> (url: String, others: [String]) {
        guard let scheme = url.firstRange(of: "://") else { return (url, []) }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let login = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        // An @ or a comma before the user's colon means that a further host has its own login.
        let before = authority[..<login].dropLast()
        guard !before.contains("@"), !before.prefix(while: { $0 != ":" }).contains(",") else {
            throw URLError(
                description: "has a login at a further host; write one before the first host, with @ as %40 in it")
        }
        let hosts = authority[login...].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return (url[..<login] + hosts[0] + url[authority.endIndex...], Array(hosts.dropFirst()))
    }

    /// The host of a URL, without the brackets of an IPv6 address; `nil` if there is none, or it has characters that
    /// no host has.
    private static func host(_ parts: URLComponents) -> String? {
        guard let text = parts.host else { return nil }
        let host = text.hasPrefix("[") ? String(text.dropFirst().dropLast()) : text
        let isHost = host.unicodeScalars.allSatisfy { $0 > " " && !",@/]\\\u{7F}".unicodeScalars.contains($0) }
        return !host.isEmpty && isHost ? host : nil
    }

    private static func port(_ parts: URLComponents) throws(URLError) -> UInt16 {
        guard let number = parts.port else { return 6379 }
        guard let port = UInt16(exactly: number), port > 0 else {
            throw URLError(description: "the port is \(number); expected 1 to 65535")
        }
        return port
    }

    private static func database(in path: String) throws(URLError) -> Int {
        let name = path.drop { $0 == "/" }
        guard !name.isEmpty else { return 0 }
        guard let number = Int(name), number >= 0 else {
            throw URLError(
                description: "the database is '\(printable(String(name), limit: 20))'; expected a number from 0")
        }
        return number
    }

    var isTLS: Bool { tls != nil }

    /// One configuration for each member of a quorum; without a quorum, this one.
    package var members: [RedisConfiguration] {
        guard isQuorum else { return [self] }
        return hosts.map { host in
            var member = self
            (member.host, member.port, member.otherHosts) = (host.name, host.port, [])
            member.quorum = hosts
            return member
        }
    }

    /// The nodes that are asked first who owns a cluster's slots.
    var seeds: [RedisAddress] { hosts.map(address(of:)) }

    /// All hosts of the URL, in its order.
    package var hosts: [Host] { [Host(name: host, port: port)] + otherHosts }

    var address: RedisAddress { address(of: Host(name: host, port: port)) }

    private func address(of host: Host) -> RedisAddress {
        RedisAddress(host: host.name, port: Int32(host.port), isTLS: isTLS)
    }

    /// What the operator states about the server, as the URL has it, in order.
    public var statements: [String] {
        (assumesNoEviction ? ["eviction=none"] : []) + (assumesDurability ? ["durable=server"] : [])
            + (isOfRegion ? ["scope=region"] : []) + (replicas == 0 && isCluster ? ["wait=0"] : [])
    }

    /// What the settings permit that may accept a token twice, one sentence for each.
    package var warnings: [String] {
        var warnings: [String] = []
        if isOfRegion {
            warnings.append(
                "scope=region: another region, whose store is another one, accepts the same token once more")
        }
        if isCluster, replicas == 0 {
            warnings.append(
                "wait=0 in a cluster: a primary that was paused until a replica had taken over may accept a token that "
                    + "its successor accepts too; leave wait=0 out of the URL")
        }
        return warnings
    }
}

/// A configuration while its URL is read, with what it says of TLS.
private struct RedisURLDraft {
    var configuration: RedisConfiguration
    var tls = RedisConfiguration.TLS()
}

extension RedisConfiguration: CustomStringConvertible, CustomReflectable {
    /// The server's address, without user and password.
    public var description: String { seeds.map(\.description).joined(separator: ",") }
    /// An empty mirror, so that a dump does not show the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
