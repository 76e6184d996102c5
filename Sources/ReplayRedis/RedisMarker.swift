internal import MediaToken

/// The marker that lies beside the keys of a shard and is lost with them: since when they are remembered, and by which run
/// of which server.
struct RedisMarker: Equatable {
    let since: Timestamp
    let runID: String
    let nodeID: String

    init(since: Timestamp, by server: RedisServerFacts) {
        self.since = since
        (runID, nodeID) = (server.runID, server.nodeID)
    }

    /// Reads the value of its key; `nil` for anything else.
    init?(_ reply: RedisReply) {
        guard let words = reply.text?.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false),
            words.count == 3, let since = Int64(Substring(words[0]))
        else { return nil }
        self.since = Timestamp(milliseconds: since)
        (runID, nodeID) = (String(Substring(words[1])), String(Substring(words[2])))
    }

    var text: String { "\(since.milliseconds) \(runID) \(nodeID)" }

    /// Whether the run that set it is the one that answers now, so that nothing can have been lost in between.
    func isOf(_ server: RedisServerFacts) -> Bool { runID == server.runID }

    /// The marker as it should be, if it is not: under the run that answers now, with the fence of a store that begins now
    /// unless the past can be believed.
    ///
    /// It can be after a restart where the server loses nothing in one; a snapshot brings back an older state, marker
    /// included. And it can on another node of a cluster, to which the shard was moved, or which has taken over. (What
    /// replication had not brought it yet is lost then. That is what `wait` is for.)
    func renewed(by server: RedisServerFacts, fence: Timestamp) -> RedisMarker? {
        guard !isOf(server) else { return nil }
        let isBelieved = server.keepsThroughRestart || nodeID != server.nodeID
        return RedisMarker(since: isBelieved ? since : max(since, fence), by: server)
    }
}

/// Sets the markers of shards that begin without a past, or under another run of a server.
struct RedisMarking {
    let client: RedisReplayClient
    let node: RedisNode
    let server: RedisServerFacts
    /// What a shard that begins now can be asked about: tokens issued later.
    let fence: Timestamp
    /// Whether the node is only about to get the shards; see ``RedisRedirection``.
    var isAsking = false

    /// Looks at the markers of `shards`, and sets those that are missing or of another run.
    func renew(_ shards: [RedisShard], _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        ask(shards.map { ["GET", client.keys.marker(of: $0)] }) { outcome in
            switch outcome {
            case .failure(let error): completion(.failure(error))
            case .success(let replies):
                ask(zip(shards, replies).compactMap(command)) { completion($0.map { _ in }) }
            }
        }
    }

    private func command(for shard: RedisShard, _ reply: RedisReply) -> RedisCommand? {
        // The shard is another node's by now, and looked at there.
        if case .error = reply { return nil }
        let key = client.keys.marker(of: shard)
        guard let marker = RedisMarker(reply) else {
            let begun = RedisMarker(since: fence, by: server).text
            // Where there is none: whoever comes first decides, and the others read what that was.
            return reply == .null ? ["SET", key, begun, "NX"] : ["SET", key, begun]
        }
        return marker.renewed(by: server, fence: fence).map { ["SET", key, $0.text] }
    }

    private func ask(
        _ commands: [RedisCommand], _ completion: @escaping (Result<[RedisReply], ReplayCacheError>) -> Void
    ) {
        guard !commands.isEmpty else { return completion(.success([])) }
        node.send(commands, asking: isAsking) { replies in
            for case .error(let error) in replies where !client.configuration.isCluster || error.redirection == nil {
                return completion(.failure(error.fault(of: node.address)))
            }
            completion(replies.contains(.lost) ? .failure(.unavailable(node.lossReason)) : .success(replies))
        }
    }
}
