package import Foundation
import Glibc

/// A real `redis-server` on a free port of the loopback.
package final class RedisServer {
    package let port: Int
    private let address: String
    private let directory: TemporaryDirectory
    /// The settings for its next start.
    package var settings: [String]
    private let tls: TLSIdentity?
    private var daemon: Daemon?

    /// What the server shows and demands when it speaks TLS.
    package struct TLSIdentity {
        package let certificate: TestAuthority.Certificate
        package let authority: TestAuthority

        package init(_ certificate: TestAuthority.Certificate, clientsOf authority: TestAuthority) {
            self.certificate = certificate
            self.authority = authority
        }
    }

    /// Starts it and waits until it answers.
    ///
    /// - Parameters:
    ///   - settings: as on the command line of `redis-server`; without any it keeps nothing on the disk.
    ///   - tls: the server's identity; `nil` for a server that speaks no TLS.
    package init(
        _ settings: [String] = [], at address: String = "127.0.0.1", port: Int? = nil, tls: TLSIdentity? = nil
    ) throws {
        self.address = address
        self.port = try port ?? FreePort.take(1)[0]
        self.settings = settings
        self.tls = tls
        directory = try TemporaryDirectory()
        try start()
    }

    package var url: String { "\(tls == nil ? "redis" : "rediss")://\(address):\(port)" }

    /// Starts it again, with what is on its disk.
    package func start(waits: Bool = true) throws {
        var fixed = ["--bind", address, "--dir", directory.path, "--save", ""]
        if let tls {
            fixed += ["--port", "0", "--tls-port", "\(port)", "--tls-ca-cert-file", tls.authority.file]
            fixed += ["--tls-cert-file", tls.certificate.file, "--tls-key-file", tls.certificate.key]
            fixed += ["--tls-replication", "yes", "--tls-cluster", "yes"]
        } else {
            fixed += ["--port", "\(port)"]
        }
        let daemon = try Daemon("redis-server", fixed + settings, log: directory.path + "/log")
        self.daemon = daemon
        if waits { try daemon.wait { try ["PONG", "NOAUTH"].contains { try cli("ping").hasPrefix($0) } } }
    }

    /// Ends it: with `SIGKILL` at once, with `SIGTERM` as an orderly shutdown.
    package func end(_ signal: Int32) {
        daemon?.end(signal)
    }

    /// Sends the server's process a signal, such as `SIGSTOP` and `SIGCONT`.
    package func signal(_ number: Int32) {
        daemon?.signal(number)
    }

    /// Sends the signal after a delay, from a thread of its own.
    package func signal(_ number: Int32, afterMilliseconds milliseconds: Int) {
        daemon?.signal(number, afterMilliseconds: milliseconds)
    }

    /// What `redis-cli` prints.
    @discardableResult
    package func cli(_ arguments: String..., input: Data = Data()) throws -> String {
        let outcome = try Program("redis-cli").run(["-h", address, "-p", "\(port)"] + login + arguments, input: input)
        return (outcome.output + outcome.errors).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The options by which `redis-cli` speaks the server's TLS.
    fileprivate var login: [String] {
        guard let tls else { return [] }
        return ["--tls", "--insecure", "--cert", tls.certificate.file, "--key", tls.certificate.key]
    }
}

/// Three real servers that know nothing of each other.
package final class RedisQuorum {
    package let servers: [RedisServer]

    package init(_ settings: [String] = []) throws {
        servers = try (0..<3).map { _ in try RedisServer(settings) }
    }

    package var url: String { url(of: [0, 1, 2]) }

    /// The URL of a store that has these of the servers and, for further numbers, others that are away.
    package func url(of numbers: [Int]) -> String {
        let hosts = numbers.map { "127.0.0.1:\($0 < 3 ? servers[$0].port : $0)" }
        return "redis://" + hosts.joined(separator: ",") + "?quorum=true"
    }
}

/// A real Redis Cluster on the loopback: three primaries with a replica each.
package final class RedisCluster {
    package let servers: [RedisServer]
    private let authority: TestAuthority?

    /// Starts the servers, makes them a cluster, and waits until all of them say that it is complete.
    ///
    /// - Parameters:
    ///   - settings: of each server.
    ///   - authority: the authority of the certificates by which the servers know each other; `nil` for servers without
    ///     TLS.
    package init(_ settings: [String] = [], authority: TestAuthority? = nil) throws {
        self.authority = authority
        let tls = try authority.map {
            RedisServer.TLSIdentity(try $0.certificate("node", names: "IP:127.0.0.1"), clientsOf: $0)
        }
        let ports = try FreePort.take(12)
        servers = try (0..<6).map { number in
            let own = ["--cluster-enabled", "yes", "--cluster-port", "\(ports[number + 6])"]
            let swift = ["--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"]
            return try RedisServer(own + swift + settings, port: ports[number], tls: tls)
        }
        let addresses = ports.prefix(6).map { "127.0.0.1:\($0)" }
        try Program("redis-cli").succeed(
            servers[0].login + ["--cluster", "create"] + addresses + ["--cluster-replicas", "1", "--cluster-yes"])
        try waitUntilComplete()
    }

    package var url: String {
        servers[0].url + "?cluster=true" + (authority.map { "&tls-ca=\($0.file)" } ?? "")
    }

    /// Waits until all servers are up and say that all slots are served and all replicas in step.
    package func waitUntilComplete() throws {
        guard try Program.wait(until: { try servers.allSatisfy { try $0.isComplete } }) else {
            throw Program.Failure(description: "the cluster is not complete")
        }
    }

    /// Has the servers wait as long for each other before they take one for gone.
    package func setNodeTimeout(milliseconds: Int) throws {
        for server in servers { try server.cli("config", "set", "cluster-node-timeout", "\(milliseconds)") }
    }

    /// The servers that are primaries now, and live.
    package func primaries() throws -> [RedisServer] {
        try servers.filter { try $0.cli("role").hasPrefix("master") }
    }
}

extension RedisServer {
    /// Whether it takes its cluster for complete: all slots served, itself in step with its primary or followed by a
    /// replica.
    fileprivate var isComplete: Bool {
        get throws {
            guard try cli("cluster", "info").contains("cluster_state:ok") else { return false }
            let replication = try cli("info", "replication")
            return replication.contains("master_link_status:up") || replication.contains("state=online")
        }
    }
}
