import Foundation
import MediaToken
import ReplayStores
import TestSupport
import Testing

/// All tests of replay stores, one after the other: they keep the machine busy, and some are about time.
@Suite("Replay stores", .serialized)
enum ReplayStoreTests {}

/// The stores that keep the contract. A further one is a further case.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, lmdb, redis, tls, cluster

    var testDescription: String { rawValue }

    /// Of those that several processes can share.
    static let shared: [StoreKind] = [.lmdb, .redis, .tls, .cluster]

    /// Claims at a time in a race: more where each group is a round trip.
    var group: Int { [.redis, .tls, .cluster].contains(self) ? 40 : 1 }
}

/// A store that is empty, and what it lives in. Its fence, where it has one, is before all that the tests claim.
final class TestStore {
    let url: String
    let cache: any ReplayStore
    private let directory: TemporaryDirectory
    private let store: ConfiguredReplayStore

    init(_ kind: StoreKind) throws {
        directory = try TemporaryDirectory()
        // Patient: a machine with few cores and hundreds of threads is no fault of the store. Each with keys of its own.
        let settings = "timeout=20000&prefix=\(UUID().uuidString)"
        url =
            switch kind {
            case .memory: "memory"
            case .lmdb: "lmdb:\(directory.path)/replays"
            case .redis: try RedisForAll.server.get().url + "?" + settings
            case .tls: try RedisForAll.overTLS.get() + "&" + settings
            case .cluster: try RedisForAll.cluster.get().url + "&" + settings
            }
        store = try ConfiguredReplayStore(opening: url)
        cache = store
    }

    func entries() throws -> Int { try store.contents().entries }

    func close() throws {
        try store.close()
    }
}

/// Servers that the tests share which do them no harm.
private enum RedisForAll {
    // The cluster is patient: none of its servers goes away, though a busy machine may look like it.
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
    private nonisolated(unsafe) static var lasting: RedisServer?
    nonisolated(unsafe) static let cluster = Result { try RedisCluster(["--cluster-node-timeout", "15000"]) }
}
