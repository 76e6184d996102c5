internal import FoundationEssentials
internal import MediaToken
internal import TextEncodings

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
        /// The path of the certificate's private key as PEM, without a password; `nil` if it is in the certificate's file.
        public var key: String?
        /// The name that every server's certificate must have; `nil` for the host that is connected to.
        public var name: String?

        /// Trusts the authorities that the host trusts, and shows no certificate.
        public init() {}
    }

    /// The name or the address of the server. A name is looked up whenever a connection is made; the last known addresses
    /// serve while the resolver is slow.
    public var host: String
    /// The server's port.
    public var port: UInt16 = 6379
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
    /// The time that a claim may take, including the time to connect. After that the store cannot decide.
    public var timeout = Duration.milliseconds(250)
    /// The number of replicas that must confirm a claim before it is answered (`WAIT`); `nil` for one replica in a cluster, on
    /// each primary that has any, and none on a single server.
    ///
    /// In a cluster 0 is unsafe: a primary that was paused until a replica had taken over may accept a token that its
    /// successor accepts too.
    public var replicas: Int?
    /// Whether the operator states that the server never evicts keys, which a managed service may not let clients read.
    /// What the server does report about that still decides.
    public var assumesNoEviction = false
    /// Whether the operator states that the server answers a write only after it has been stored where neither a restart
    /// nor a failover loses it, as services with a replicated log do. It counts only for a server that lets nobody read
    /// its settings (`CONFIG GET`); settings that can be read still decide.
    public var assumesDurability = false
    /// How far Adobe's clock may be ahead of the host's: added to the fence of a store without a past.
    public var clockSkew: Duration = VerificationPolicy.defaultClockSkew

    /// The server at `host`, with defaults for all the rest.
    public init(host: String) {
        self.host = host
    }

    /// Reads a URL.
    ///
    /// - Throws: ``URLError``.
    public init(url: String) throws(URLError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, ["redis", "rediss"].contains(scheme),
            let host = parts.host, !host.isEmpty
        else { throw URLError(description: "cannot be read; expected \(Self.form)") }
        // An @ after the host means that a password has a slash or a question mark in it, and nobody must see the rest.
        guard !(parts.percentEncodedPath + (parts.percentEncodedQuery ?? "")).contains("@") else {
            throw URLError(description: "has an @ after the host; write / as %2F, ? as %3F and @ as %40 in a password")
        }
        // An IPv6 address is in brackets.
        self.init(host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
        if let number = parts.port {
            guard let port = UInt16(exactly: number), port > 0 else {
                throw URLError(description: "the port is \(number); expected 1 to 65535")
            }
            self.port = port
        }
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password
        database = try Self.database(in: parts.path)
        if scheme == "rediss" { tls = TLS() }
        for item in parts.queryItems ?? [] { try set(item.name, to: item.value ?? "") }
        try checkLogin()
        guard tls?.key == nil || tls?.certificate != nil else {
            throw URLError(description: "has tls-key without tls-certificate; expected both")
        }
        guard !isCluster || database == 0 else {
            throw URLError(description: "names database \(database) of a cluster, which has none but 0")
        }
    }

    private func checkLogin() throws(URLError) {
        guard user == nil || password != nil || passwordFile != nil else {
            throw URLError(
                description: "has a user without a password; expected user:password@, :password@ or password-file")
        }
        guard password == nil || passwordFile == nil else {
            throw URLError(description: "has a password and a password-file; expected one of them")
        }
    }

    /// The form of the URL, for help texts and error messages.
    public static let form =
        "redis[s]://[user:password@]host[:port][/db]"
        + "[?cluster=true&prefix=TEXT&timeout=MILLISECONDS&wait=REPLICAS&password-file=FILE&eviction=none"
        + "&durable=server&tls-ca=FILE&tls-certificate=FILE&tls-key=FILE&tls-name=NAME]"

    private static func database(in path: String) throws(URLError) -> Int {
        let name = path.drop { $0 == "/" }
        guard !name.isEmpty else { return 0 }
        guard let number = Int(name), number >= 0 else {
            throw URLError(
                description: "the database is '\(printable(String(name), limit: 20))'; expected a number from 0")
        }
        return number
    }

    private mutating func set(_ name: String, to value: String) throws(URLError) {
        func number(_ range: ClosedRange<Int>) throws(URLError) -> Int {
            guard let number = Int(value), range.contains(number) else {
                let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
                throw URLError(description: "\(name) is '\(printable(value))'; expected \(expected)")
            }
            return number
        }
        switch name {
        case "cluster":
            guard let flag = Bool(value) else {
                throw URLError(description: "cluster is '\(printable(value))'; expected true or false")
            }
            isCluster = flag
        case "prefix":
            // Braces would change which part of a key a cluster hashes.
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x7B && $0 != 0x7D }) else {
                throw URLError(description: "prefix is '\(printable(value))'; expected printable ASCII without braces")
            }
            prefix = value
        case "timeout": timeout = .milliseconds(try number(1...60_000))
        case "wait": replicas = try number(0...100)
        case "eviction":
            guard value == "none" else {
                throw URLError(description: "eviction is '\(printable(value))'; expected none")
            }
            assumesNoEviction = true
        case "durable":
            guard value == "server" else {
                throw URLError(description: "durable is '\(printable(value))'; expected server")
            }
            assumesDurability = true
        case "password-file": passwordFile = try Self.file(name, value)
        case "tls-ca": try setTLS(name) { (tls) throws(URLError) in tls.authorities = try Self.file(name, value) }
        case "tls-certificate":
            try setTLS(name) { (tls) throws(URLError) in tls.certificate = try Self.file(name, value) }
        case "tls-key": try setTLS(name) { (tls) throws(URLError) in tls.key = try Self.file(name, value) }
        case "tls-name":
            try setTLS(name) { (tls) throws(URLError) in
                guard !value.isEmpty, !value.hasPrefix(".") else {
                    throw URLError(description: "tls-name is '\(printable(value))'; expected the name of a host")
                }
                tls.name = value
            }
        default:
            let known =
                "cluster, prefix, timeout, wait, password-file, eviction, durable, tls-ca, tls-certificate, tls-key "
                + "and tls-name"
            throw URLError(description: "has the setting '\(printable(name))'; known are \(known)")
        }
    }

    private mutating func setTLS(_ name: String, _ body: (inout TLS) throws(URLError) -> Void) throws(URLError) {
        guard var changed = tls else { throw URLError(description: "has \(name) without TLS; expected rediss://") }
        try body(&changed)
        tls = changed
    }

    private static func file(_ name: String, _ value: String) throws(URLError) -> String {
        guard !value.isEmpty else { throw URLError(description: "\(name) is empty; expected the path of a file") }
        return value
    }

    var isTLS: Bool { tls != nil }
    var address: RedisAddress { RedisAddress(host: host, port: Int32(port), isTLS: isTLS) }

    /// What the operator states about the server, as the URL has it, in order.
    public var statements: [String] {
        (assumesNoEviction ? ["eviction=none"] : []) + (assumesDurability ? ["durable=server"] : [])
            + (replicas == 0 && isCluster ? ["wait=0"] : [])
    }

    /// What the settings permit that may accept a token twice, one sentence for each.
    package var warnings: [String] {
        guard isCluster, replicas == 0 else { return [] }
        return [
            "wait=0 in a cluster: a primary that was paused until a replica had taken over may accept a token that its "
                + "successor accepts too; leave wait=0 out of the URL"
        ]
    }
}

extension RedisConfiguration: CustomStringConvertible, CustomReflectable {
    /// The server's address, without user and password.
    public var description: String { address.description }
    /// An empty mirror, so that a dump does not show the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
