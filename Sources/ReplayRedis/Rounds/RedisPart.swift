internal import MediaToken

/// The commands that one server gets in one round of a group.
struct RedisPart {
    enum Work {
        /// Claims, the markers of their shards, and the facts, the clock and the replicas of the server.
        case claims
        /// The markers of shards, and the facts and the clock of the server.
        case look
        /// Markers to be written. No claim may be accepted on the server if there is a `problem`; losses are recorded
        /// even then.
        case mark([RedisCommand], problem: ReplayStoreError?)
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
    var isSent = false
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
    init(marking commands: [RedisCommand], after part: RedisPart, problem: ReplayStoreError?) {
        target = part.target
        work = .mark(commands, problem: problem)
        waiting = part.positions
    }

    /// The commands in the order in which they are sent. A marker that was read before its claim could be lost, with all
    /// keys beside it, before the claim is carried out.
    static func inOrder(claims: [RedisCommand], markers: [RedisCommand]) -> [RedisCommand] {
        claims + markers
    }

    /// Separates the replies to claims from the markers that were read.
    func split(_ replies: ArraySlice<RedisReply>) -> (claims: ArraySlice<RedisReply>, markers: ArraySlice<RedisReply>) {
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
    let keys: ArraySlice<RedisReply>
    let facts: Result<RedisServerFacts, ReplayStoreError>
    /// The replies to `TIME` and `WAIT`.
    let rest: ArraySlice<RedisReply>
    let address: RedisAddress
    /// The error for a reply that was lost.
    let loss: ReplayStoreError
}
