internal import MediaToken

/// The commands that go to one server together: the parts of one or more groups.
///
/// First come the claims of all parts, then the markers of their shards, then the server's facts and clock and, if
/// claims wait for replicas, how many have followed. The facts come after claims and markers, so that a loss before a
/// claim shows in the round of that claim.
struct RedisFlush {
    private var claims: [RedisCommand] = []
    private var markers: [RedisShard: Int] = [:]
    private var shards: [RedisShard] = []
    /// Markers that are written. Nothing else is then in the flush.
    private var marks: RedisPart.Marks?
    private var parts: [(asker: RedisAsker, claims: Range<Int>, markers: [Int])] = []
    private var hasOnlyClaims = true
    private var deadline: ContinuousClock.Instant?
    private(set) var isAsking = false

    var isEmpty: Bool { parts.isEmpty }

    /// Adds a part of a group. A part that is not ``RedisPart/isShareable`` must be the only one.
    mutating func add(_ part: RedisPart, of group: RedisClaimGroup, for asker: RedisAsker) {
        let begin = claims.count
        claims += part.claimed.map { group.keys.claim(group.claims[$0], at: group.now) }
        let places = part.shards.map { shard in
            let place = markers[shard] ?? shards.count
            if markers.updateValue(place, forKey: shard) == nil { shards.append(shard) }
            return place
        }
        if case .mark(let marks) = part.work { self.marks = marks }
        // A look at markers always asks for the trace, since what is written depends on it. So do claims of an earlier
        // round, whose replies may have come too late to leave it out.
        if case .claims = part.work, !part.claimed.isEmpty {} else { hasOnlyClaims = false }
        isAsking = part.target.isAsking
        deadline = min(deadline ?? group.deadline, group.deadline)
        parts.append((asker, begin..<claims.count, places))
    }

    /// The commands for a server with these facts, which of the replies are about the facts, and what each asker gets
    /// of them.
    func commands(
        to server: RedisServerFacts, at now: ContinuousClock.Instant, _ terms: RedisTerms
    ) -> (commands: [RedisCommand], facts: Range<Int>, members: [RedisBatch.Member]) {
        let left = deadline.map { $0 - now } ?? .zero
        if let marks {
            let wait = marks.witnesses > 0 ? [RedisReplication.wait(for: marks.witnesses, within: left)] : []
            let commands = marks.commands + wait
            return (commands, 0..<0, parts.map { RedisBatch.Member(asker: $0.asker, replies: Array(commands.indices)) })
        }
        // A marker that was read before its claim could be lost, with all keys beside it, before the claim is carried
        // out.
        let markers = shards.map { ["GET", terms.keys.marker(of: $0)] }
        let (firstClaim, firstMarker) = (0, claims.count)
        var commands = claims + markers
        let begin = commands.count
        commands +=
            hasOnlyClaims
            ? server.commandsAgain(at: now, terms.configuration) : RedisServerFacts.commands(terms.configuration)
        let facts = begin..<commands.count
        commands.append(["TIME"])
        if !claims.isEmpty, let confirmation = server.replication.confirmation(within: left) {
            commands.append(confirmation)
        }
        let members = parts.map { part in
            RedisBatch.Member(
                asker: part.asker,
                replies: part.claims.map { firstClaim + $0 } + part.markers.map { firstMarker + $0 })
        }
        return (commands, facts, members)
    }
}
