internal import MediaToken

/// What one node is asked in one round of a group.
final class RedisClaimPart {
    enum Outcome {
        /// How far each claim has come by what the node said.
        case answered([(index: Int, stage: RedisClaimGroup.Stage)])
        /// Nothing was sent.
        case unreachable(ReplayCacheError)
    }

    let node: RedisNode
    private(set) var isDone = false
    private(set) var isUnderWay = false
    private(set) var wasUnreachable = false
    private(set) var wasMoved = false
    private(set) var needsMarking = false

    private let claims: [ReplayClaim]
    private let now: Timestamp
    private let client: RedisReplayClient
    private let isAsking: Bool
    /// Positions of the claims to be made here.
    private var claimed: [Int] = []
    /// What the claims of earlier rounds were answered.
    private var earlier: [Int: ReplayAnswer] = [:]
    /// Positions of the claims whose shard's marker is read here.
    private var marked: [Int] = []
    private var shards: [RedisShard] = []

    init(of group: RedisClaimGroup, at target: RedisRedirection, _ client: RedisReplayClient) {
        (claims, now) = (group.claims, group.now)
        self.client = client
        node = client.router.node(at: target.address)
        isAsking = target.isAsking
    }

    var indices: Set<Int> { Set(claimed).union(marked) }

    func add(_ index: Int, _ stage: RedisClaimGroup.Stage) {
        if case .unclaimed(let redirection) = stage {
            claimed.append(index)
            // While a shard is on its way its marker may still be where it was: looked for there in the next round.
            if redirection != nil { return }
        }
        if case .claimed(_, let answer) = stage { earlier[index] = answer }
        marked.append(index)
        let shard = client.keys.shard(of: claims[index].key)
        if !shards.contains(shard) { shards.append(shard) }
    }

    /// Asks the node, unless by then nobody wants to know any more.
    func run(while isWanted: @escaping () -> Bool, _ completion: @escaping (Outcome) -> Void) {
        node.whenConnected { [self] outcome in
            guard isWanted() else { return }
            if case .success(let server) = outcome, importDoubt(server) != nil { lookAgain() }
            switch outcome.flatMap({ server in importDoubt(server).map { .failure($0) } ?? .success(server) }) {
            case .failure(let error):
                wasUnreachable = true
                isDone = true
                completion(.unreachable(error))
            case .success(let server):
                isUnderWay = true
                let askedAt = ContinuousClock.now
                let questions = server.commandsAgain
                node.send(commands(questions), asking: isAsking) { [self] replies in
                    isUnderWay = false
                    isDone = true
                    completion(.answered(stages(after: replies, questions.count, askedAt)))
                }
            }
        }
    }

    /// While a shard is on its way, its marker tells of the node that it leaves, and nothing of the one that it comes to. So
    /// that one may take claims only if it loses nothing anyway.
    private func importDoubt(_ server: RedisServerFacts) -> ReplayCacheError? {
        let losesNothing = server.keepsThroughRestart && server.losses?.isWithoutEviction == true
        guard isAsking, !losesNothing else { return nil }
        return .unavailable(
            "a slot is on its way to \(node.address), which could lose it; claims work when it is there")
    }

    /// Reads the facts of a node again that got no claims because it could lose them, so that the next claims go by new facts.
    private func lookAgain() {
        let askedAt = ContinuousClock.now
        node.send(RedisServerFacts.commands) { [node] in _ = node.facts(in: $0[...], askedAt: askedAt) }
    }

    /// Sees to it that the markers are there, and hold for the server as it is now.
    func renewMarkers(at time: RunningTime, _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        // A node that has lost its memory has lost it for all of its shards.
        let shards = isAsking ? shards : client.router.shards(of: node)
        isUnderWay = true
        client.renewMarkers(of: shards, on: node, asking: isAsking, at: time) { [self] outcome in
            isUnderWay = false
            completion(outcome)
        }
    }

    /// The commands of this round.
    ///
    /// - Parameter questions: the commands that ask for the server's facts. They come after claims and markers, so that a loss
    ///   before a claim shows in the round of that claim.
    private func commands(_ questions: [RedisCommand]) -> [RedisCommand] {
        let claiming = claimed.map { client.keys.claim(claims[$0], at: now) }
        let marking = shards.map { ["GET", client.keys.marker(of: $0)] }
        var commands = claiming + marking + questions
        if !claimed.isEmpty {
            commands.append(["TIME"])
            if client.configuration.replicas > 0 {
                // Half of the deadline, so that an answer comes within it.
                let patience = max(1, client.configuration.timeoutMilliseconds / 2)
                commands.append(["WAIT", String(client.configuration.replicas), String(patience)])
            }
        }
        return commands
    }

    private func stages(
        after replies: [RedisReply], _ factCount: Int, _ askedAt: ContinuousClock.Instant
    ) -> [(index: Int, stage: RedisClaimGroup.Stage)] {
        var rest = replies[...]
        func next() -> RedisReply { rest.popFirst() ?? .lost }
        let claimReplies = claimed.map { (index: $0, reply: next()) }
        let markers = Dictionary(uniqueKeysWithValues: shards.map { ($0, next()) })
        let facts = node.facts(in: rest.prefix(factCount), askedAt: askedAt)
        rest = rest.dropFirst(factCount)
        let doubt = (claimed.isEmpty ? nil : clockDoubt(next()) ?? replicaDoubt(next)) ?? serverDoubt(facts)
        let server = try? facts.get()
        // A loss is recorded by the first round that sees it, even if no claim depends on it: a restart would hide it.
        needsMarking =
            server.map { server in
                markers.values.lazy.compactMap { RedisMarker($0) }
                    .contains { $0.runID == server.runID && !$0.isOf(server) }
            } ?? false
        var stages: [Int: RedisClaimGroup.Stage] = [:]
        for (index, answer) in earlier { stages[index] = .claimed(nil, answer) }
        for (index, reply) in claimReplies { stages[index] = stage(of: index, after: reply, markers, doubt) }
        for index in marked {
            guard case .claimed(_, let answer) = stages[index], let marker = markers[shard(index)] else { continue }
            stages[index] = stage(of: index, answered: answer, marker: marker, server, doubt)
        }
        return stages.map { (index: $0.key, stage: $0.value) }
    }

    /// By what the node said to the claim itself.
    private func stage(
        of index: Int, after reply: RedisReply, _ markers: [RedisShard: RedisReply], _ doubt: ReplayCacheError?
    ) -> RedisClaimGroup.Stage {
        switch reply {
        case .error(let error):
            if let redirection = follow(error, shard(index)) {
                return .unclaimed(redirection.isAsking ? redirection : nil)
            }
            return .decided(.failure(fault(error)))
        case .lost: return .decided(.failure(lost))
        default: break
        }
        guard let answer = RedisKeys.answer(reply, to: claims[index]) else {
            return .decided(.failure(.unavailable("\(node.address) does not answer SET as Redis does")))
        }
        // "Already used" stands, whatever doubts there are about the server, its clock or its replicas.
        if let doubt, answer != .alreadyUsed { return .decided(.failure(doubt)) }
        if answer != .alreadyUsed { return .claimed(nil, answer) }
        // A token that was refused for being older than the store is told so again.
        if let since = markers[shard(index)].flatMap(RedisMarker.init)?.since, claims[index].issued <= since {
            return .decided(.success(.predatesStore(since: since)))
        }
        return .decided(.success(.alreadyUsed))
    }

    /// By the marker of the claim's shard; the key itself is ours.
    private func stage(
        of index: Int, answered answer: ReplayAnswer, marker: RedisReply, _ server: RedisServerFacts?,
        _ doubt: ReplayCacheError?
    ) -> RedisClaimGroup.Stage {
        switch marker {
        case .error(let error):
            if let redirection = follow(error, shard(index)) {
                return .claimed(redirection.isAsking ? redirection : nil, answer)
            }
            return .decided(.failure(fault(error)))
        case .lost: return .decided(.failure(lost))
        default:
            if let doubt { return .decided(.failure(doubt)) }
            guard let server, let marker = RedisMarker(marker), marker.isOf(server) else {
                needsMarking = true
                return .claimed(nil, answer)
            }
            if let problem = marker.problem(on: server) {
                return .decided(.failure(.unavailable("\(node.address) \(problem)")))
            }
            let isKnown = claims[index].issued > marker.since
            return .decided(.success(isKnown ? answer : .predatesStore(since: marker.since)))
        }
    }

    private func shard(_ index: Int) -> RedisShard { client.keys.shard(of: claims[index].key) }

    private func follow(_ error: RedisErrorReply, _ shard: RedisShard) -> RedisRedirection? {
        guard client.configuration.isCluster, let redirection = error.redirection else { return nil }
        if !redirection.isAsking {
            wasMoved = true
            client.router.moved(shard, to: redirection.address)
        }
        return redirection
    }

    private func fault(_ error: RedisErrorReply) -> ReplayCacheError {
        // The name of a primary may lead to another server by now.
        if error.code == "READONLY" { node.drop("is a replica") }
        return error.fault(of: node.address)
    }

    private var lost: ReplayCacheError {
        .unavailable(node.lossReason + "; an answer is lost, so its token may count as used")
    }

    private func serverDoubt(_ facts: Result<RedisServerFacts, ReplayCacheError>) -> ReplayCacheError? {
        switch facts {
        case .failure(let error): error
        case .success(let server):
            server.problem.map { .unavailable("\(node.address) \($0)") } ?? importDoubt(server)
        }
    }

    private func clockDoubt(_ reply: RedisReply) -> ReplayCacheError? {
        switch reply {
        case .error(let error): return error.fault(of: node.address)
        case .lost: return lost
        default:
            guard let time = RedisClock.time(reply) else {
                return .unavailable("\(node.address) does not answer TIME as Redis does")
            }
            return RedisClock.problem(server: time, now: now).map { .unavailable("\(node.address) \($0)") }
        }
    }

    private func replicaDoubt(_ next: () -> RedisReply) -> ReplayCacheError? {
        let wanted = client.configuration.replicas
        guard wanted > 0 else { return nil }
        switch next() {
        case .integer(let count) where count >= wanted: return nil
        case .integer(let count):
            return .unavailable("\(node.address): \(count) of \(wanted) replicas confirmed the claim in time")
        case .error(let error): return error.fault(of: node.address)
        default: return lost
        }
    }
}
