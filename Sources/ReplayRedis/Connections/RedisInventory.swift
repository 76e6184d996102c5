internal import MediaToken

/// Reads what a store holds, for its operator. Only a probe writes, a key that lasts a second.
struct RedisInventory {
    private let session: RedisSession
    private let client: RedisReplayClient

    init(_ session: RedisSession, _ client: RedisReplayClient) {
        (self.session, self.client) = (session, client)
    }

    func contents() throws(ReplayStoreError) -> ReplayStoreContents {
        try learnSlots()
        let fence = try fence()
        var counts: [ReplayBucket: Int] = [:]
        var bytes = 0
        for node in client.servers.owning {
            counts.merge(try self.counts(on: node), uniquingKeysWith: +)
            bytes += try memory(of: node)
        }
        return ReplayStoreContents(buckets: counts.map { ($0.key, $0.value) }, bytes: bytes, fence: fence)
    }

    /// The latest fence of all shards, if each server takes claims now. A server may answer reads and refuse every
    /// claim: for lack of memory or of replicas, by its access rules, or while it is paused.
    func probe() throws(ReplayStoreError) -> Timestamp {
        try learnSlots()
        for shard in client.keys.shards { _ = try owner(of: shard) }
        let timeout = client.configuration.timeout
        return try fence { (node, shards) throws(ReplayStoreError) in
            let server = client.servers.nodes[node].facts
            let wait = server?.replication.confirmation(within: timeout).map { [$0] } ?? []
            for shard in shards {
                let replies = try ask(node, [client.keys.probe(shard)] + wait)
                if case .error(let error)? = replies.first {
                    // The marker of a slot that is being moved may still be here, while new keys go to the other
                    // server.
                    if error.redirection?.isAsking == true { continue }
                    throw error.storeError(at: address(node))
                }
                let lost = ReplayStoreError.unavailable("\(address(node)) closed the connection")
                if let server, !wait.isEmpty {
                    let awaited = server.replication.confirmations
                    if let doubt = server.replication.doubt(replies[1], awaited: awaited, at: address(node), lost: lost)
                    {
                        throw doubt
                    }
                }
                return
            }
        }
    }

    /// The latest fence of all shards.
    ///
    /// - Parameter probe: Is called for each server, with the shards whose marker it has.
    private func fence(
        _ probe: (Int, [RedisShard]) throws(ReplayStoreError) -> Void = { (_, _) throws(ReplayStoreError) in }
    ) throws(ReplayStoreError) -> Timestamp {
        var fences: [Timestamp] = []
        for node in client.servers.owning {
            let shards = client.servers.shards(of: node)
            let markers = try ask(node, shards.map { ["GET", client.keys.marker(of: $0)] })
            // A slot that is being moved redirects; the server's other slots are still served.
            var served: [RedisShard] = []
            for (shard, marker) in zip(shards, markers) {
                guard case .error(let error) = marker else {
                    served.append(shard)
                    continue
                }
                guard error.redirection?.isAsking == true else { throw error.storeError(at: address(node)) }
            }
            try probe(node, served)
            fences += markers.compactMap { RedisMarker($0)?.since }
        }
        guard let latest = fences.max() else {
            throw .unavailable(
                "\(client.configuration.address) holds no replay store with the prefix '\(client.keys.prefix)'")
        }
        return latest
    }

    /// Advises the operator on settings with which a fault costs less, in one sentence; `nil` if all is set so.
    func advice() throws(ReplayStoreError) -> String? {
        _ = try fence()
        guard let node = client.servers.owning.first, let server = client.servers.nodes[node].facts else { return nil }
        guard client.configuration.isCluster else {
            if server.keepsThroughRestart { return nil }
            return
                "a restart of \(address(node)) makes it forget used tokens, so it sets a fence; these three lines in its "
                + "configuration prevent that: appendonly yes, appendfsync always, no-appendfsync-on-rewrite no"
        }
        let coverage = "cluster-require-full-coverage"
        let replies = try ask(node, [["CONFIG", "GET", coverage]])
        guard RedisServerFacts.settings(replies.first)[coverage] == "yes" else { return nil }
        return
            "while one primary of the cluster at \(address(node)) is away, all others refuse claims too; set "
            + "\(coverage) no on each node"
    }

    private func learnSlots() throws(ReplayStoreError) { _ = try session.wait { client.learnSlots($0) } }

    private func address(_ node: Int) -> RedisAddress { client.servers.nodes[node].address }

    /// The node that has a shard's slot.
    private func owner(of shard: RedisShard) throws(ReplayStoreError) -> Int {
        guard let node = client.servers.owner(of: shard) else {
            throw .unavailable("no node of the cluster at \(client.configuration.address) has slot \(shard.slot)")
        }
        return node
    }

    /// What a claim would find now. The marker of its shard is read after its key, as for a claim.
    func find(_ question: ReplayQuestion, at now: Timestamp) throws(ReplayStoreError) -> ReplayLookupResult {
        try learnSlots()
        let (shard, keys) = (client.keys.shard(of: question.key), client.keys)
        let node = try owner(of: shard)
        let replies = try replies(
            of: node, to: [["GET", keys.name(of: question.key)], ["GET", keys.marker(of: shard)]])
        let keptUntil = question.until.advanced(byMilliseconds: RedisClock.keptMilliseconds)
        let bucket = ReplayBucket(expiring: question.until)
        guard bucket > ReplayBucket(lastPassedAt: now) else {
            return ReplayLookupResult(.forgotten, keptUntil: keptUntil)
        }
        let since = try fence(RedisMarker(replies[1]), on: node, at: now)
        let use: ReplayLookupResult.Use =
            if question.issued <= since {
                .predatesStore(since: since)
            } else if let text = replies[0].text {
                .used(since: FingerprintedUse(text)?.time)
            } else {
                .unused
            }
        return ReplayLookupResult(use, keptUntil: keptUntil)
    }

    /// The fence by which a claim would be decided: that of the marker or, if it does not hold, the one that would
    /// replace it.
    private func fence(_ marker: RedisMarker?, on node: Int, at now: Timestamp) throws(ReplayStoreError) -> Timestamp {
        let (configuration, address) = (client.configuration, address(node))
        guard let marker else {
            throw .unavailable("\(address) holds no replay store with the prefix '\(client.keys.prefix)'")
        }
        guard let server = client.servers.nodes[node].facts else {
            throw .unavailable("\(address) closed the connection")
        }
        if let conflict = marker.conflict(with: server) { throw .conflicting("\(address) \(conflict)") }
        if let problem = server.problem ?? marker.problem(on: server) { throw .unavailable("\(address) \(problem)") }
        let fence = now.advanced(by: configuration.clockSkew)
        return marker.renewed(by: server, fence: fence)?.since ?? marker.since
    }

    private func counts(on node: Int) throws(ReplayStoreError) -> [ReplayBucket: Int] {
        var counts: [ReplayBucket: Int] = [:]
        var cursor = "0"
        repeat {
            let page = try ask(node, [["SCAN", cursor, "MATCH", client.keys.pattern, "COUNT", "1000"]])
            guard let parts = page[0].array, parts.count == 2, let next = parts[0].text, let keys = parts[1].array
            else {
                throw .unavailable("\(address(node)) does not answer SCAN as Redis does")
            }
            cursor = next
            let names = keys.compactMap(\.text).filter { !client.keys.isProbe($0) }
            guard !names.isEmpty else { continue }
            for case .integer(let moment) in try ask(node, names.map { ["PEXPIRETIME", $0] })
            where moment > 0 {
                let until = Timestamp(milliseconds: moment).advanced(byMilliseconds: -RedisClock.keptMilliseconds)
                counts[ReplayBucket(expiring: until), default: 0] += 1
            }
        } while cursor != "0"
        return counts
    }

    /// The memory in bytes that the server takes, including what other programs keep on it.
    private func memory(of node: Int) throws(ReplayStoreError) -> Int {
        let info = RedisInfo(try ask(node, [["INFO", "memory"]])[0].text ?? "")
        return info["used_memory"].flatMap(Int.init) ?? 0
    }

    /// The replies to commands, none of which may be redirected: ``ask(_:_:)`` lets redirections pass.
    private func replies(of node: Int, to commands: [RedisCommand]) throws(ReplayStoreError) -> [RedisReply] {
        let replies = try ask(node, commands)
        for case .error(let error) in replies { throw error.storeError(at: address(node)) }
        return replies
    }

    private func ask(_ node: Int, _ commands: [RedisCommand]) throws(ReplayStoreError) -> [RedisReply] {
        try session.wait { client.ask(commands, of: node, $0) }
    }
}
