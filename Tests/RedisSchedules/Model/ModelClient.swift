internal import MediaToken
internal import ReplayRedis

/// A process that uses the store: the store's rounds, its connections, and the claims that it waits for.
final class ModelClient {
    /// A connection: what is on its way in both directions.
    final class Connection {
        let link: RedisLink
        let server: ModelServer
        var toServer: [RedisCommand] = []
        var toClient: [RedisReply] = []
        var isAsking = false
        /// Why the client will see the connection end once it has read what is on its way; `nil` if it does not end.
        var ending: ReplayStoreError?
        /// Whether the client has given the connection up. What it sent may still reach the server.
        var isAbandoned = false

        init(_ link: RedisLink, to server: ModelServer) {
            self.link = link
            self.server = server
        }
    }

    struct Pending {
        let claims: [ReplayClaim]
        let owners: [Int]
        let since: Int64
    }

    var rounds: RedisRounds
    var connections: [Connection] = []
    var pending: [Int: Pending] = [:]
    /// How far the client's clock is ahead of the true time, in milliseconds.
    let clockOffset: Int64

    init(_ configuration: RedisConfiguration, clockOffset: Int64) {
        rounds = RedisRounds(configuration)
        self.clockOffset = clockOffset
    }
}
