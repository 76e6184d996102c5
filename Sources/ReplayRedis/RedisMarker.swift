internal import MediaToken

/// The marker that lies beside the keys of a shard and is lost with them: since when they are remembered, and by which run
/// of a server.
struct RedisMarker {
    let since: Timestamp
    let runID: String

    init(since: Timestamp, runID: String) {
        self.since = since
        self.runID = runID
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let since = Int64(words[0]) else { return nil }
        self.init(since: Timestamp(milliseconds: since), runID: String(words[1]))
    }

    var text: String { "\(since.milliseconds) \(runID)" }

    /// Whether all that was acknowledged since then is there. After a restart, only where the server keeps it through one:
    /// what a snapshot brings back is an older state of the store, marker included.
    func isBelievable(from server: RedisServerFacts) -> Bool {
        runID == server.runID || server.keepsThroughRestart
    }
}

/// Sets the markers of shards that begin without a past.
struct RedisMarking {
    let keys: RedisKeys
    let node: RedisNode
    let server: RedisServerFacts
    /// What a shard that begins now can be asked about: tokens issued later.
    let fence: Timestamp

    /// Looks at the markers of `shards`, and sets those that are missing or cannot be believed.
    func renew(_ shards: [RedisShard], _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        guard !shards.isEmpty else { return completion(.success(())) }
        node.send(shards.map { ["GET", keys.marker(of: $0)] }) { replies in
            var commands: [RedisCommand] = []
            for (shard, reply) in zip(shards, replies) {
                switch reply {
                case .lost: return completion(.failure(.unavailable(node.lossReason)))
                // Another node's by now; it is looked at there.
                case .error(let error) where error.redirection != nil: break
                case .error(let error): return completion(.failure(error.fault(of: node.address)))
                default: commands += command(for: shard, reply)
                }
            }
            guard !commands.isEmpty else { return completion(.success(())) }
            node.send(commands) { replies in
                for case .error(let error) in replies where error.redirection == nil {
                    return completion(.failure(error.fault(of: node.address)))
                }
                completion(replies.contains(.lost) ? .failure(.unavailable(node.lossReason)) : .success(()))
            }
        }
    }

    private func command(for shard: RedisShard, _ reply: RedisReply) -> [RedisCommand] {
        let begun = RedisMarker(since: fence, runID: server.runID)
        guard let text = reply.text else {
            // NX: whoever comes first decides, and the others read what that was.
            return [["SET", keys.marker(of: shard), begun.text, "NX"]]
        }
        if let marker = RedisMarker(text), marker.isBelievable(from: server) { return [] }
        return [["SET", keys.marker(of: shard), begun.text]]
    }
}
