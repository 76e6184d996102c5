internal import MediaToken

/// The commands that one server gets in one round of a group.
struct RedisPart {
    enum Work {
        /// Claims, the markers of their shards, and the facts, the clock and the replicas of the server.
        case claims
        /// The markers of shards, and the facts and the clock of the server.
        case look
        /// Markers to be written.
        case mark(Marks)
    }

    /// Markers to be written.
    struct Marks {
        var commands: [RedisCommand] = []
        /// What each of the written markers is replaced by, once as many replicas as `witnesses` have them; `nil` for
        /// one that stays.
        var next: [(shard: RedisShard, marker: RedisMarker)?] = []
        var witnesses = 0
        /// Why no claim may be accepted on the server, although losses are recorded; `nil` if claims may be.
        var problem: ReplayStoreError?
    }

    let target: RedisTarget
    let work: Work
    /// The positions of the claims that are made.
    private(set) var claimed: [Int] = []
    /// The positions of the claims whose shard's marker is read.
    private(set) var judged: [Int] = []
    /// The shards whose markers are read.
    private(set) var shards: [RedisShard] = []
    /// The positions of claims that continue after this part, although it sends no command for them.
    private var waiting: Set<Int> = []
    /// The connection on which the part was sent; `nil` if it was not.
    var link: RedisLink?
    var isAnswered = false

    /// Creates a part for claims, which are added one by one.
    init(claimsAt target: RedisTarget) {
        self.target = target
        work = .claims
    }

    /// Creates a part that looks at the markers of shards.
    ///
    /// - Parameter part: the part whose claims wait for it; `nil` if no claim does.
    init(lookAt shards: [RedisShard], _ target: RedisTarget, after part: RedisPart? = nil) {
        self.target = target
        self.shards = shards
        work = .look
        waiting = part?.positions ?? []
    }

    /// Creates a part that writes markers after `part` has looked at them.
    init(marking marks: Marks, after part: RedisPart) {
        target = part.target
        work = .mark(marks)
        waiting = part.positions
    }

    /// Whether it can be sent together with parts of other groups.
    var isShareable: Bool {
        if case .claims = work { !target.isAsking } else { false }
    }

    /// Whether nothing has been sent for its claims yet.
    var isFirst: Bool {
        if case .claims = work { judged.allSatisfy(claimed.contains) } else { false }
    }

    /// Separates the replies to claims from the markers that were read.
    func split(_ replies: [RedisReply]) -> (claims: ArraySlice<RedisReply>, markers: ArraySlice<RedisReply>) {
        (replies.prefix(claimed.count), replies.dropFirst(claimed.count))
    }

    /// The positions of all claims that depend on the part.
    var positions: Set<Int> { waiting.union(claimed).union(judged) }

    /// Adds a claim that is to be made.
    ///
    /// - Parameter readsMarker: whether the marker of its shard is read as well. While a slot is being moved its marker
    ///   may still be where it was, so the marker is looked for in the next round.
    mutating func claim(_ position: Int, in shard: RedisShard, readsMarker: Bool) {
        claimed.append(position)
        if readsMarker { judge(position, in: shard) }
    }

    /// Adds a claim that was made in an earlier round, and whose marker is to be read.
    mutating func judge(_ position: Int, in shard: RedisShard) {
        judged.append(position)
        if !shards.contains(shard) { shards.append(shard) }
    }
}

/// The replies of one server to a part of a round.
struct RedisPartReplies {
    /// The replies to claims and markers.
    let keys: [RedisReply]
    let facts: Result<RedisServerFacts, ReplayStoreError>
    /// The replies to `TIME` and `WAIT`.
    let rest: ArraySlice<RedisReply>
    /// The number of replicas that the part waited for.
    let awaited: Int
    let address: RedisAddress
    /// The error for a reply that was lost.
    let loss: ReplayStoreError
}

extension RedisPart.Marks {
    /// What is written once all replicas have these markers; `nil` if that is nothing.
    ///
    /// - Parameter replies: the replies to ``commands``, which are the markers that were written.
    func next(after replies: [RedisReply], _ keys: RedisKeys) -> RedisPart.Marks? {
        let commands = zip(replies, next).compactMap { reply, next -> RedisCommand? in
            // Another client may have written a marker meanwhile, which is then read again.
            guard let next, let written = RedisMarker(reply) else { return nil }
            let new = (since: written.since, rest: next.marker.text.rest)
            return keys.replaceMarker(of: next.shard, reply.text, by: new, at: written.since)
        }
        return commands.isEmpty ? nil : RedisPart.Marks(commands: commands)
    }
}
