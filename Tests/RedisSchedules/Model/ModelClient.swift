internal import MediaToken
internal import ReplayRedis

/// A process that uses the store: the rounds of each server or cluster, the connections, and the claims that it waits
/// for.
final class ModelClient {
    /// A connection: what is on its way in both directions.
    final class Connection {
        let link: RedisLink
        /// The position of the member whose rounds made the connection.
        let member: Int
        let server: ModelServer
        var toServer: [RedisCommand] = []
        var toClient: [RedisReply] = []
        var isAsking = false
        /// Why the client will see the connection end once it has read what is on its way; `nil` if it does not end.
        var ending: ReplayStoreError?
        /// Whether the client has given the connection up. What it sent may still reach the server.
        var isAbandoned = false

        init(_ link: RedisLink, of member: Int, to server: ModelServer) {
            (self.link, self.member, self.server) = (link, member, server)
        }
    }

    /// A group of claims that the servers vote on.
    struct Pending {
        var vote: QuorumVote
        let claims: [ReplayClaim]
        let owners: [Int]
        let since: Int64
    }

    var members: [RedisRounds]
    var connections: [Connection] = []
    var pending: [Int: Pending] = [:]
    /// The group that each number of a member's rounds stands for.
    var groups: [[Int: Int]]
    var lastGroup = 0
    /// How far the client's clock is ahead of the true time, in milliseconds.
    let clockOffset: Int64

    init(_ configuration: RedisConfiguration, clockOffset: Int64) {
        members = configuration.members.map { RedisRounds($0) }
        groups = members.map { _ in [:] }
        self.clockOffset = clockOffset
    }
}
