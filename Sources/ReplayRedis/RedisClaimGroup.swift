internal import EventLoops
internal import MediaToken

/// A group of claims on its way.
///
/// It goes in rounds. In a round each node gets, in one go, what is to be asked of it: the claims, then the markers of their
/// shards, then its clock, and where it is wanted how many replicas have followed. A marker that is read after a claim was
/// carried out, on the same connection, tells since when *that* memory lasts: were it emptied before, the marker would be
/// gone too. What a cluster sends elsewhere is asked there in the next round.
///
/// What was sent and not answered is not sent again. It may have been carried out, and would then be answered "already used"
/// to the one who used it; so that one is told that the store cannot tell, and refuses.
final class RedisClaimGroup {
    typealias Answer = Result<ReplayAnswer, ReplayCacheError>

    /// How far one claim has come.
    enum Stage {
        /// Nothing was asked, or only a node that has not got the shard and did nothing.
        case unclaimed(RedisRedirection?)
        /// The key is ours, now or since an earlier claim under the same mark, as the answer says. It remains to be seen since when
        /// the store remembers.
        case claimed(RedisRedirection?, ReplayAnswer)
        case decided(Answer)
    }

    let claims: [ReplayClaim]
    let now: Timestamp
    private let time: RunningTime
    private let client: RedisReplayClient
    private let completion: ([Answer]) -> Void
    private var stages: [Stage]
    private var rounds = 0
    private var parts: [RedisClaimPart] = []
    private var hasRefreshed = false
    private var timer: LoopTimer?
    private var isFinished = false

    /// More than a slot that moves twice takes.
    private static let mostRounds = 8

    init(
        _ claims: [ReplayClaim], at now: Timestamp, _ client: RedisReplayClient,
        _ completion: @escaping ([Answer]) -> Void
    ) {
        (self.claims, self.now, self.client, self.completion) = (claims, now, client, completion)
        time = RunningTime(now)
        let lastPassed = ReplayBucket(lastPassedAt: now)
        stages = claims.map { claim in
            let bucket = ReplayBucket(expiring: claim.until)
            return bucket > lastPassed ? .unclaimed(nil) : .decided(.success(.predatesStore(since: bucket.end)))
        }
    }

    /// Sets off. The completion is called once, within the deadline, and may be before this returns.
    func start() {
        // Holds the group until it is finished.
        timer = client.loop.timer(afterMilliseconds: client.configuration.timeoutMilliseconds) { self.expire() }
        advance()
    }

    private var undecided: [Int] {
        stages.indices.filter { if case .decided = stages[$0] { false } else { true } }
    }

    private func advance() {
        guard !isFinished else { return }
        let undecided = undecided
        guard !undecided.isEmpty else { return finish() }
        rounds += 1
        guard rounds <= Self.mostRounds else {
            decide(
                undecided, .unavailable("\(client.configuration.address) and its cluster send claims from node to node")
            )
            return finish()
        }
        let homeless = plan(undecided)
        guard homeless.isEmpty || hasRefreshed else { return refresh() }
        for index in homeless {
            let slot = client.keys.shard(of: claims[index].key).slot
            decide([index], .unavailable("no node of the cluster at \(client.configuration.address) has slot \(slot)"))
        }
        guard !parts.isEmpty else { return finish() }
        // A part may be done before the next has begun, but not all of them before the last.
        for part in parts { run(part) }
    }

    /// Puts together what each node is asked next; returns the claims whose shard no node is known to have.
    private func plan(_ undecided: [Int]) -> [Int] {
        var homeless: [Int] = []
        var byTarget: [RedisRedirection: RedisClaimPart] = [:]
        parts = []
        for index in undecided {
            let owner = client.router.owner(of: client.keys.shard(of: claims[index].key))?.address
            guard
                let target = stages[index].redirection ?? owner.map({ RedisRedirection(address: $0, isAsking: false) })
            else {
                homeless.append(index)
                continue
            }
            let part = byTarget[target] ?? RedisClaimPart(of: self, at: target, client)
            if byTarget.updateValue(part, forKey: target) == nil { parts.append(part) }
            part.add(index, stages[index])
        }
        return homeless
    }

    private func run(_ part: RedisClaimPart) {
        part.run(while: { [self] in !isFinished }) { [self] outcome in
            guard !isFinished else { return }
            switch outcome {
            case .answered(let answers):
                for (index, stage) in answers { stages[index] = stage }
            case .unreachable(let error) where hasRefreshed || !client.configuration.isCluster:
                decide(part.indices, error)
            case .unreachable: break
            }
            if parts.allSatisfy(\.isDone) { settle() }
        }
    }

    /// After a round: what must be put right before the next.
    private func settle() {
        if !hasRefreshed, parts.contains(where: \.wasUnreachable) { return refresh() }
        if parts.contains(where: \.wasMoved) { client.router.refresh { _ in } }
        let unmarked = parts.filter(\.needsMarking)
        guard !unmarked.isEmpty else { return advance() }
        var rest = unmarked.count
        for part in unmarked {
            part.renewMarkers(at: time) { [self] outcome in
                if case .failure(let error) = outcome { decide(part.indices, error) }
                rest -= 1
                if rest == 0 { advance() }
            }
        }
    }

    private func refresh() {
        hasRefreshed = true
        client.router.refresh { [self] outcome in
            guard !isFinished else { return }
            if case .failure(let error) = outcome { decide(undecided, error) }
            advance()
        }
    }

    private func decide(_ indices: some Sequence<Int>, _ error: ReplayCacheError) {
        for index in indices {
            if case .decided = stages[index] { continue }
            stages[index] = .decided(.failure(error))
        }
    }

    private func expire() {
        guard !isFinished else { return }
        let silence = "did not answer within \(client.configuration.timeoutMilliseconds) ms"
        let silent = parts.filter { $0.isUnderWay }
        for part in silent { decide(part.indices, .unavailable("\(part.node.address) \(silence)")) }
        decide(undecided, .unavailable("\(client.configuration.address) \(silence)"))
        finish()
        // What comes later on these connections would only keep those waiting who ask next.
        for part in silent { part.node.drop(silence) }
    }

    private func finish() {
        isFinished = true
        timer = nil
        completion(
            stages.map { stage in
                if case .decided(let answer) = stage { answer } else { .failure(.unavailable("undecided")) }
            })
    }
}

extension RedisClaimGroup.Stage {
    var redirection: RedisRedirection? {
        switch self {
        case .unclaimed(let redirection), .claimed(let redirection, _): redirection
        case .decided: nil
        }
    }
}
