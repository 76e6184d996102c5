internal import MediaToken

/// The marker that lies beside the keys of a shard and is lost with them: since when they are remembered, by which run of a
/// server, and what that run had lost by then.
struct RedisMarker: Equatable {
    let since: Timestamp
    let runID: String
    /// Whether that run loses nothing when it ends.
    let isKept: Bool
    let losses: RedisLosses

    init(since: Timestamp, runID: String, isKept: Bool, losses: RedisLosses) {
        (self.since, self.runID, self.isKept, self.losses) = (since, runID, isKept, losses)
    }

    /// Reads the value of its key; `nil` for anything else.
    init?(_ reply: RedisReply) {
        guard let words = reply.text?.utf8.split(separator: UInt8(ascii: " ")).map({ Substring($0) }),
            words.count == 4, let since = Int64(words[0]), let isKept = Self.keeping[String(words[2])],
            let losses = RedisLosses(words[3])
        else { return nil }
        self.init(since: Timestamp(milliseconds: since), runID: String(words[1]), isKept: isKept, losses: losses)
    }

    var text: String { "\(since.milliseconds) \(runID) \(isKept ? "kept" : "volatile") \(losses.text)" }

    private static let keeping = ["kept": true, "volatile": false]

    /// Whether the marker holds for a server: the run that answers now set it, has lost nothing since, and still keeps what
    /// the marker says that it keeps.
    func isOf(_ server: RedisServerFacts) -> Bool {
        runID == server.runID && server.losses.map { vouches(for: $0, of: server) } == true
            && isKept == remainsKept(by: server)
    }

    /// Whether the run that set the marker has lost nothing since.
    private func vouches(for losses: RedisLosses, of server: RedisServerFacts) -> Bool {
        losses == self.losses && since >= server.leastFence ?? since
    }

    /// Why no claim may be accepted under the marker, although it holds: its run has stopped to append to its file.
    ///
    /// The file ends with a marker that vouches for all that this run acknowledges, but claims, and other markers, no longer
    /// reach it. If the server were started from that file, the marker would be believed and the claims forgotten.
    func problem(on server: RedisServerFacts) -> String? {
        guard isKept, runID == server.runID, !server.appends else { return nil }
        return "does not append to its file any more, which it began with; set appendonly yes again, or restart it"
    }

    /// The marker as it should be, if it is not: under the run that answers now, with the fence of a store that begins now
    /// unless the past can be believed.
    ///
    /// - Parameter waits: whether claims are confirmed by replicas before they are answered.
    func renewed(by server: RedisServerFacts, fence: Timestamp, waits: Bool) -> RedisMarker? {
        guard !isOf(server), let losses = server.losses else { return nil }
        let (isBelieved, isKept) =
            runID == server.runID
            ? (vouches(for: losses, of: server), remainsKept(by: server))
            : (isBelieved(by: server, losses, waits: waits), server.keepsThroughRestart)
        return RedisMarker(
            since: isBelieved ? since : max(since, fence), runID: server.runID, isKept: isKept, losses: losses)
    }

    /// Whether the keys beside the marker are all that there were under the run that set it, now that another run has them.
    private func isBelieved(by server: RedisServerFacts, _ losses: RedisLosses, waits: Bool) -> Bool {
        // It may have evicted some before anybody asked it.
        guard losses.isWithoutEviction else { return false }
        // Of a primary's last claims a replica that takes over knows those that waited for it. Any other run is a restart:
        // what a snapshot brings back is an older state of the store, marker included.
        return losses.hasFollowed ? waits : isKept && server.keepsThroughRestart && server.beganWithAll
    }

    /// Whether the marker stays `kept` on the run that set it. On the same run it is never raised to `kept` again: claims from
    /// the time before may be missing from the file.
    private func remainsKept(by server: RedisServerFacts) -> Bool {
        isKept && (server.keepsThroughRestart || !server.appends)
    }
}

/// Sets the markers of shards that begin without a past, or under another run of a server.
struct RedisMarking {
    let client: RedisReplayClient
    let node: RedisNode
    let time: RunningTime
    /// Whether the node is only about to get the shards; see ``RedisRedirection``.
    var isAsking = false

    /// Looks at the markers of `shards`, and sets those that are missing or do not hold for the server. It fails if no claim
    /// may be accepted on the server; but losses are recorded even then.
    func renew(_ shards: [RedisShard], _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        let (questions, askedAt) = (shards.map { ["GET", client.keys.marker(of: $0)] }, ContinuousClock.now)
        node.send(questions + RedisServerFacts.commands + [["TIME"]], asking: isAsking) { replies in
            let markers = Array(replies.prefix(shards.count))
            let outcome = check(markers)
                .flatMap { node.facts(in: replies.dropFirst(shards.count).dropLast(), askedAt: askedAt) }
                .flatMap { server in fence(replies.last).map { (server, $0) } }
            guard case .success((let server, let fence)) = outcome else { return completion(outcome.map { _ in }) }
            let commands = zip(shards, markers).compactMap { command(for: $0, $1, server, fence) }
            let problem = server.problem ?? markers.lazy.compactMap { RedisMarker($0)?.problem(on: server) }.first
            guard !commands.isEmpty else { return completion(result(.success(()), problem)) }
            node.send(commands, asking: isAsking) { completion(result(check($0), problem)) }
        }
    }

    private func result(
        _ outcome: Result<Void, ReplayCacheError>, _ problem: String?
    ) -> Result<Void, ReplayCacheError> {
        problem.map { .failure(.unavailable("\(node.address) \($0)")) } ?? outcome
    }

    /// What a shard that begins now can be asked about: tokens issued later.
    ///
    /// By the later of two clocks, so that a client whose clock is slow does not vouch for a time that it knows nothing of. And
    /// taken after the markers and the server's facts were read: what was lost was lost before.
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

    private func command(
        for shard: RedisShard, _ reply: RedisReply, _ server: RedisServerFacts, _ fence: Timestamp
    ) -> RedisCommand? {
        // The shard is another node's by now, and looked at there. And a marker set on a replica would be believed later.
        if case .error = reply { return nil }
        guard server.misfit == nil, let losses = server.losses else { return nil }
        let key = client.keys.marker(of: shard)
        if let marker = RedisMarker(reply) {
            let waits = client.configuration.replicas > 0
            // `XX`: if all was lost in between, the marker must not come back without its keys.
            return marker.renewed(by: server, fence: fence, waits: waits).map { ["SET", key, $0.text, "XX"] }
        }
        let begun = RedisMarker(
            since: fence, runID: server.runID, isKept: server.keepsThroughRestart, losses: losses)
        // Where there is none: whoever comes first decides, and the others read what that was.
        return ["SET", key, begun.text, reply == .null ? "NX" : "XX"]
    }

    private func check(_ replies: [RedisReply]) -> Result<Void, ReplayCacheError> {
        for case .error(let error) in replies where error.redirection == nil {
            return .failure(error.fault(of: node.address))
        }
        return replies.contains(.lost) ? .failure(.unavailable(node.lossReason)) : .success(())
    }
}
