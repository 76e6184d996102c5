import Foundation
import MediaToken
import ReplayStoreTesting
import ReplayRedis
import ReplayStores
import TestSupport
import TestThreads
import Testing

/// All tests of replay stores, one after the other: they keep the machine busy, and some are about time.
@Suite("Replay stores", .serialized, OwnThreads(1))
enum ReplayStoreTests {}

/// The stores that keep the contract. A further one is a further case.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, lmdb, redis, tls, cluster, quorum

    var testDescription: String { rawValue }
}

/// A kind of store as the contract tests it, with a fence at its beginning, before all that is claimed.
struct TestSubject: ReplayStoreSubject {
    let kind: StoreKind
    /// The path of the directory in which stores have their places.
    let directory: String

    func makePlace() throws -> String {
        // Patient: a machine with few cores and hundreds of threads is no fault of the store. Each with keys of its
        // own.
        let name = UUID().uuidString
        let settings = "timeout=20000&prefix=\(name)"
        return switch kind {
        case .memory: "memory"
        case .lmdb: "lmdb:\(directory)/\(name)"
        case .redis: try RedisForAll.server.get().url + "?" + settings
        case .tls: try RedisForAll.overTLS.get() + "&" + settings
        case .cluster: try RedisForAll.cluster.get().url + "&" + settings
        case .quorum: try RedisForAll.quorum.get().url + "&" + settings
        }
    }

    func open(_ place: String, at now: Timestamp) throws -> ConfiguredReplayStore {
        try ConfiguredReplayStore(at: try ReplayStoreLocation(place), isService: true, clockSkew: .zero, now: now)
    }

    func close(_ store: ConfiguredReplayStore) throws { try store.close() }

    func entries(of store: ConfiguredReplayStore) throws -> Int? { try store.contents().entries }

    /// The worker that was built with the tests, unless `REPLAY_WORKER` is the path of another, such as an optimised
    /// one, with which the races of processes take a third of the time.
    private static let worker =
        if let other = ProcessInfo.processInfo.environment["REPLAY_WORKER"] {
            ReplayStoreWorker.Command(other, arguments: ["contract"])
        } else {
            ReplayStoreWorker.Command(beside: "replay-worker", arguments: ["contract"])
        }

    var sharing: ReplayStoreSharing {
        let worker = Self.worker
        // What each states: LMDB a quarter of a second for the lock of its log, Redis the timeout of its URL. The rest
        // is left to a busy machine.
        return switch kind {
        case .memory: .memory
        case .lmdb: .processes(worker: worker, deadline: Program.patience)
        case .redis, .tls, .cluster, .quorum: .processes(worker: worker, deadline: .seconds(20) + Program.patience)
        }
    }

    /// More where each group is a round trip.
    var claimsInGroup: Int { [.redis, .tls, .cluster, .quorum].contains(kind) ? 40 : 1 }
}

/// Servers that the tests share which do them no harm.
private enum RedisForAll {
    /// `nonisolated(unsafe)`: the tests only read the server's URL.
    nonisolated(unsafe) static let server = Result { try RedisServer() }
    /// The URL of a server that speaks TLS, which lives as long as the tests.
    static let overTLS = Result {
        let authority = try TestAuthority()
        let identity = RedisServer.TLSIdentity(
            try authority.certificate("redis", names: "IP:127.0.0.1"), clientsOf: authority)
        let server = try RedisServer(["--tls-auth-clients", "no"], tls: identity)
        lasting = server
        return "\(server.url)?tls-ca=\(authority.file)"
    }
    /// The server that speaks TLS, so that it outlives the closure that started it.
    ///
    /// `nonisolated(unsafe)`: that closure sets it once, and nothing reads it.
    private nonisolated(unsafe) static var lasting: RedisServer?
    /// `nonisolated(unsafe)`: the tests only read the quorum's URL.
    nonisolated(unsafe) static let quorum = Result { try RedisQuorum() }
    /// A cluster that gives its servers 15 seconds to answer each other, since none of them goes away, although on a
    /// busy machine it may look so.
    ///
    /// `nonisolated(unsafe)`: the tests only read the cluster's URL.
    nonisolated(unsafe) static let cluster = Result { try RedisCluster(["--cluster-node-timeout", "15000"]) }
}

extension RedisConfiguration {
    /// The settings of a URL, with fences that allow for no skew: the tests' clocks are one.
    static func exact(_ url: String) throws -> RedisConfiguration {
        var configuration = try RedisConfiguration(url: url)
        configuration.clockSkew = .zero
        return configuration
    }
}

/// What the error of `body` says.
func message(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "no error"
    } catch {
        return "\(error)"
    }
}
