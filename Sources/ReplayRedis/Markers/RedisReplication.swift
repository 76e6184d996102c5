internal import MediaToken

/// The replicas of a server that could take over from it, and how many of them must confirm a claim (Redis'
/// documentation of `WAIT`).
struct RedisReplication {
    /// The number of replicas that could take over; `nil` if the server does not report it. In a cluster those that its
    /// own table of nodes has: a replica that is out of reach may still be promoted. Otherwise those that are
    /// connected.
    let replicas: Int?
    /// The number of replicas that must confirm a claim.
    let confirmations: Int
    /// The number of replicas that have to know first when a marker is to say that claims are not confirmed by all;
    /// `nil` if that is not known.
    let witnesses: Int?
    /// Whether the URL says for how many replicas claims wait.
    let isWaitStated: Bool
    /// Whether all replicas that could take over confirm each claim of this client.
    let isConfirmedByAll: Bool
    /// How long a primary that is cut off may go on answering after a replica has taken over from it.
    let overlap: Duration

    /// The command that counts a cluster node's replicas, by the node's own table.
    static let count = ["EVAL", "return #redis.call('CLUSTER','REPLICAS',redis.call('CLUSTER','MYID'))", "0"]

    /// - Parameters:
    ///   - replicas: the server's report of its replicas.
    ///   - nodeTimeout: the cluster's `cluster-node-timeout` in milliseconds; `nil` if it is not readable.
    ///   - isStatedDurable: whether the server answers a write only once no failover loses it.
    init(_ replicas: Int?, nodeTimeout: Int?, isStatedDurable: Bool, _ configuration: RedisConfiguration) {
        self.replicas = replicas
        witnesses = replicas ?? (configuration.isCluster ? nil : 0)
        isWaitStated = configuration.replicas != nil
        let mayBeReplaced = configuration.isCluster && !isStatedDurable && replicas != 0
        confirmations = configuration.replicas ?? (mayBeReplaced ? 1 : 0)
        // A client that never waits makes no promise, so that none has to be taken back when the server gets a replica.
        let isPromised = configuration.replicas.map { $0 > 0 } ?? configuration.isCluster
        isConfirmedByAll =
            isStatedDurable || isPromised && replicas.map { [confirmations] in confirmations >= $0 } == true
        // A node sends a ping to each other node at the latest half a node timeout after the last reply, and refuses
        // commands when a majority has not replied for a node timeout. The others take a node timeout at least before
        // they promote a replica. The second is for what nodes do once or ten times a second.
        overlap = configuration.isCluster ? .milliseconds((nodeTimeout ?? 15_000) / 2 + 1000) : .zero
    }

    /// The command that waits for replicas, for half of the time that is left, so that a reply comes within it; `nil`
    /// if claims need none.
    func confirmation(within left: Duration) -> RedisCommand? {
        confirmations > 0 ? Self.wait(for: confirmations, within: left) : nil
    }

    /// Why the reply to ``confirmation(within:)`` confirms nothing; `nil` if it does, or if claims need none.
    ///
    /// - Parameters:
    ///   - awaited: the number of replicas that were waited for.
    ///   - lost: the error for a reply that did not come.
    func doubt(
        _ reply: RedisReply?, awaited: Int, at address: RedisAddress, lost: ReplayStoreError
    ) -> ReplayStoreError? {
        // A server that has learned meanwhile that another has taken over has no replicas any more.
        guard max(awaited, confirmations) > 0 else { return nil }
        guard awaited >= confirmations else {
            return .unavailable(
                "\(address) got a replica that has not confirmed this claim; the next claims wait for it")
        }
        return Self.doubt(reply, awaited: awaited, at: address, lost: lost)
    }

    /// The command that waits for `count` replicas, for half of the time that is left.
    static func wait(for count: Int, within left: Duration) -> RedisCommand {
        ["WAIT", String(count), String(max(1, left.clampedMilliseconds / 2))]
    }

    /// Why the reply to ``wait(for:within:)`` does not say that `awaited` replicas have all that was written; `nil` if
    /// it does.
    static func doubt(
        _ reply: RedisReply?, awaited: Int, at address: RedisAddress, lost: ReplayStoreError
    ) -> ReplayStoreError? {
        switch reply {
        case .integer(let count) where count >= awaited: nil
        case .integer(let count):
            .unavailable("\(address): \(count) of \(awaited) replicas confirmed the write in time")
        case .error(let error): error.storeError(at: address)
        default: lost
        }
    }
}
