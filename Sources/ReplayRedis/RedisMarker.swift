internal import MediaToken

/// The marker that lies beside the keys of a shard and is lost with them: since when they are remembered, and by which run
/// of a server.
struct RedisMarker: Equatable {
    let since: Timestamp
    let runID: String
    /// Whether that run loses nothing when it ends.
    let isKept: Bool

    init(since: Timestamp, by server: RedisServerFacts) {
        self.since = since
        (runID, isKept) = (server.runID, server.keepsThroughRestart)
    }

    /// Reads the value of its key; `nil` for anything else.
    init?(_ reply: RedisReply) {
        guard let words = reply.text?.utf8.split(separator: UInt8(ascii: " ")), words.count == 3,
            let since = Int64(Substring(words[0])), let isKept = Self.keeping[String(Substring(words[2]))]
        else { return nil }
        (self.since, self.isKept) = (Timestamp(milliseconds: since), isKept)
        runID = String(Substring(words[1]))
    }

    var text: String { "\(since.milliseconds) \(runID) \(isKept ? "kept" : "volatile")" }

    private static let keeping = ["kept": true, "volatile": false]

    /// Whether the run that set it is the one that answers now, so that nothing can have been lost in between.
    func isOf(_ server: RedisServerFacts) -> Bool { runID == server.runID }

    /// The marker as it should be, if it is not: under the run that answers now, with the fence of a store that begins now
    /// unless the past can be believed.
    ///
    /// - Parameter waits: whether claims are confirmed by replicas before they are answered.
    func renewed(by server: RedisServerFacts, fence: Timestamp, waits: Bool) -> RedisMarker? {
        guard !isOf(server) else { return nil }
        // Of a primary's last claims a replica that takes over knows those that waited for it. Any other run is a restart:
        // what a snapshot brings back is an older state of the store, marker included.
        let isBelieved = server.wasReplica ? waits : isKept && server.keepsThroughRestart && server.beganWithAll
        return RedisMarker(since: isBelieved ? since : max(since, fence), by: server)
    }
}

/// Sets the markers of shards that begin without a past, or under another run of a server.
struct RedisMarking {
    let client: RedisReplayClient
    let node: RedisNode
    let server: RedisServerFacts
    let time: RunningTime
    /// Whether the node is only about to get the shards; see ``RedisRedirection``.
    var isAsking = false

    /// Looks at the markers of `shards`, and sets those that are missing or of another run.
    func renew(_ shards: [RedisShard], _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        ask(shards.map { ["GET", client.keys.marker(of: $0)] } + [["TIME"]]) { outcome in
            switch outcome.flatMap({ replies in fence(replies.last).map { ($0, replies) } }) {
            case .failure(let error): completion(.failure(error))
            case .success((let fence, let replies)):
                let commands = zip(shards, replies).compactMap { command(for: $0, $1, fence) }
                ask(commands) { completion($0.map { _ in }) }
            }
        }
    }

    /// What a shard that begins now can be asked about: tokens issued later.
    ///
    /// By the later of two clocks, so that a client whose clock is slow does not vouch for a time that it knows nothing of. And
    /// taken after the markers were read: what was lost was lost before.
    private func fence(_ reply: RedisReply?) -> Result<Timestamp, ReplayCacheError> {
        let now = time.now
        guard let serverTime = reply.flatMap(RedisClock.time) else {
            return .failure(.unavailable("\(node.address) does not answer TIME as Redis does"))
        }
        if let problem = RedisClock.problem(server: serverTime, now: now) {
            return .failure(.unavailable("\(node.address) \(problem)"))
        }
        let skew = client.configuration.clockSkew.clampedMilliseconds
        return .success(max(now, serverTime).advanced(byMilliseconds: skew))
    }

    private func command(for shard: RedisShard, _ reply: RedisReply, _ fence: Timestamp) -> RedisCommand? {
        // The shard is another node's by now, and looked at there.
        if case .error = reply { return nil }
        let key = client.keys.marker(of: shard)
        guard let marker = RedisMarker(reply) else {
            let begun = RedisMarker(since: fence, by: server).text
            // Where there is none: whoever comes first decides, and the others read what that was.
            return reply == .null ? ["SET", key, begun, "NX"] : ["SET", key, begun]
        }
        let waits = client.configuration.replicas > 0
        return marker.renewed(by: server, fence: fence, waits: waits).map { ["SET", key, $0.text] }
    }

    private func ask(
        _ commands: [RedisCommand], _ completion: @escaping (Result<[RedisReply], ReplayCacheError>) -> Void
    ) {
        guard !commands.isEmpty else { return completion(.success([])) }
        node.send(commands, asking: isAsking) { replies in
            for case .error(let error) in replies where error.redirection == nil {
                return completion(.failure(error.fault(of: node.address)))
            }
            completion(replies.contains(.lost) ? .failure(.unavailable(node.lossReason)) : .success(replies))
        }
    }
}
