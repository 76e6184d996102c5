internal import MediaToken

/// The state of one group of claims while the store decides it, without I/O.
///
/// The group goes in rounds. In a round each server gets all that it is to be asked at once: the claims, then the
/// markers of their shards, then the server's facts and clock and, if wanted, how many replicas have followed. A marker
/// that is read after a claim was carried out, on the same connection, tells since when *that* memory lasts: had it
/// been emptied before the claim, the marker would be gone too. Claims that a cluster sends elsewhere are made there in
/// the next round.
///
/// A claim that was sent and not answered is not sent again. It may have been carried out, and would then be answered
/// "already used" to the very client that used it. So its answer is that the store cannot decide, and the token is
/// refused.
struct RedisClaimGroup {
    typealias Instant = ContinuousClock.Instant
    typealias Answer = Result<ReplayAnswer, ReplayStoreError>

    /// What has to happen before the group can go on.
    enum Next {
        /// The group's ``parts`` are to be sent and answered.
        case ask
        /// The owners of the cluster's slots are to be learned.
        case learnSlots
        /// Nothing: every claim is decided.
        case finish
    }

    /// How far one claim has come.
    enum Stage {
        /// Not carried out anywhere. The target is the server that was named by `ASK`; `nil` for the owner of the slot.
        case unclaimed(RedisTarget?)
        /// A server carried out the claim with this answer, which counts once the marker of the claim's shard is
        /// checked. The target is the server that has the marker: the one that carried the claim out, or the one that
        /// was named by `ASK` for it; `nil` for the owner of the slot.
        case claimed(RedisTarget?, ReplayAnswer)
        case decided(Answer)
    }

    let deadline: Instant
    /// The parts of the current round.
    var parts: [RedisPart] = []
    /// The first error that concerned no claim alone; `nil` if there was none.
    private(set) var failure: ReplayStoreError?

    /// Whether the group checks every server and looks at the markers of all shards; it then has no claims.
    let isOpening: Bool
    /// Whether the group only looks at the markers, and writes none.
    let looksOnly: Bool
    /// Whether a shard has no marker.
    private(set) var isMarkerMissing = false
    let claims: [ReplayClaim]
    let now: Timestamp
    let terms: RedisTerms
    var stages: [Stage]
    private let begun: Instant
    /// How far the search for the owners of the cluster's slots has come, of which a group needs one at most.
    private enum SlotSearch { case notNeeded, needed, underWay, over }
    /// Parts that come before the next claims: markers to be looked at or written.
    private var renewals: [RedisPart] = []
    private var hasOpened = false
    private var slotSearch: SlotSearch
    private var rounds = 0

    /// More rounds than a slot that moves twice takes.
    private static let mostRounds = 8

    /// - Parameters:
    ///   - now: the caller's time at `begun`.
    ///   - timeouts: the time limit, as a multiple of the configuration's timeout.
    init(
        _ claims: [ReplayClaim], isOpening: Bool = false, looksOnly: Bool = false, at now: Timestamp, begun: Instant,
        timeouts: Int = 1,
        _ terms: RedisTerms
    ) {
        self.claims = claims
        self.now = now
        self.begun = begun
        (self.isOpening, self.looksOnly) = (isOpening, looksOnly)
        self.terms = terms
        deadline = begun + terms.configuration.timeout * timeouts
        slotSearch = isOpening && terms.configuration.isCluster ? .needed : .notNeeded
        let lastPassed = ReplayBucket(lastPassedAt: now)
        stages = claims.map { claim in
            let bucket = ReplayBucket(expiring: claim.until)
            return bucket > lastPassed ? .unclaimed(nil) : .decided(.success(.predatesStore(since: bucket.end)))
        }
    }

    var configuration: RedisConfiguration { terms.configuration }
    var keys: RedisKeys { terms.keys }

    var isRoundOver: Bool { slotSearch != .underWay && parts.allSatisfy(\.isAnswered) }

    /// The answers, one for each claim, once the group is finished.
    var answers: [Answer] {
        stages.map { if case .decided(let answer) = $0 { answer } else { .failure(.unavailable("undecided")) } }
    }

    /// The caller's time at `instant`.
    ///
    /// A fence goes by it, since a server may have started again while the caller waited.
    func time(at instant: Instant) -> Timestamp {
        now.advanced(byMilliseconds: (instant - begun).clampedMilliseconds)
    }

    // MARK: From round to round

    /// Begins the next round.
    mutating func next(_ servers: inout RedisServers) -> Next {
        parts = renewals
        renewals = []
        guard parts.isEmpty else { return .ask }
        if slotSearch == .needed {
            slotSearch = .underWay
            return .learnSlots
        }
        return isOpening && !hasOpened ? open(servers) : plan(&servers)
    }

    /// Continues after the owners of the slots were asked for.
    mutating func learnedSlots(_ outcome: Result<Void, ReplayStoreError>) {
        slotSearch = .over
        guard case .failure(let error) = outcome else { return }
        hasOpened = true
        fail(stages.indices, error)
    }

    private mutating func open(_ servers: RedisServers) -> Next {
        hasOpened = true
        parts = servers.owning.map { RedisPart(lookAt: servers.shards(of: $0), RedisTarget(node: $0)) }
        guard parts.isEmpty else { return .ask }
        fail([], .unavailable("\(configuration.address) is of a cluster that has no slots yet"))
        return .finish
    }

    /// Decides which server is asked about which claims.
    private mutating func plan(_ servers: inout RedisServers) -> Next {
        let undecided = stages.indices.filter { !stages[$0].isDecided }
        guard !undecided.isEmpty else { return .finish }
        rounds += 1
        guard rounds <= Self.mostRounds else {
            fail(undecided, .unavailable("\(configuration.address) and its cluster send claims from node to node"))
            return .finish
        }
        var places: [RedisTarget: Int] = [:]
        for position in undecided {
            let shard = keys.shard(of: claims[position].key)
            guard let target = stages[position].target ?? servers.owner(of: shard).map({ RedisTarget(node: $0) })
            else {
                guard slotSearch == .over else {
                    (parts, slotSearch) = ([], .needed)
                    return next(&servers)
                }
                fail(
                    [position],
                    .unavailable("no node of the cluster at \(configuration.address) has slot \(shard.slot)"))
                continue
            }
            let place = places[target] ?? parts.count
            if places.updateValue(place, forKey: target) == nil { parts.append(RedisPart(claimsAt: target)) }
            if case .unclaimed(let redirection) = stages[position] {
                parts[place].claim(position, in: shard, readsMarker: redirection == nil)
            } else {
                parts[place].judge(position, in: shard)
            }
        }
        return parts.isEmpty ? .finish : .ask
    }

    // MARK: Answers

    /// Records that a part was not sent, because its server cannot be asked.
    mutating func unreachable(_ part: Int, _ error: ReplayStoreError) {
        parts[part].isAnswered = true
        if configuration.isCluster, slotSearch != .over {
            slotSearch = .needed
        } else {
            fail(parts[part].positions, error)
        }
    }

    /// Fails the claims of a part that is not to be sent.
    mutating func refuse(_ part: Int, _ error: ReplayStoreError) {
        parts[part].isAnswered = true
        fail(parts[part].positions, error)
    }

    /// Records the replies to a part, and what they mean for its claims. If markers are missing or do not hold, they
    /// come before the next claims.
    mutating func receive(
        _ replies: RedisPartReplies, to part: Int, at instant: Instant, _ servers: inout RedisServers
    ) {
        parts[part].isAnswered = true
        let part = parts[part]
        switch part.work {
        case .claims:
            guard judge(replies, to: part, &servers) else { return }
            let node = part.target.node
            // A server that has lost its memory has lost it for all of its shards.
            let shards = Set(part.shards).union(part.target.isAsking ? [] : servers.shards(of: node))
            renewals.append(RedisPart(lookAt: shards.sorted { $0.number < $1.number }, part.target, after: part))
        case .look:
            switch renewal(after: replies, to: part, at: instant) {
            case .success where looksOnly: isMarkerMissing = isMarkerMissing || replies.keys.contains(.null)
            case .success(let renewal): renewals += renewal.map { [$0] } ?? []
            case .failure(let error): fail(part.positions, error)
            }
        case .mark(let marks):
            if let error = marks.problem ?? replies.firstError ?? replies.witnessDoubt(marks.witnesses) {
                fail(part.positions, error)
            } else if let next = marks.next(after: replies.keys, keys) {
                renewals.append(RedisPart(marking: next, after: part))
            }
        }
    }

    /// Fails every undecided claim at the deadline. Returns the connections on which no reply came.
    mutating func expire(_ servers: RedisServers) -> [RedisLink] {
        let late = parts.filter { !$0.isAnswered }
        for part in late {
            let silence = part.link == nil ? terms.silenceAtFirst : terms.silence
            fail(part.positions, .unavailable("\(servers.nodes[part.target.node].address) \(silence)"))
        }
        fail(stages.indices, .unavailable("\(configuration.address) \(terms.silenceAtFirst)"))
        return late.compactMap(\.link)
    }

    /// Decides claims that are not decided yet.
    private mutating func fail(_ positions: some Sequence<Int>, _ error: ReplayStoreError) {
        failure = failure ?? error
        for position in positions where !stages[position].isDecided { stages[position] = .decided(.failure(error)) }
    }
}

extension RedisClaimGroup.Stage {
    var isDecided: Bool {
        if case .decided = self { true } else { false }
    }

    /// The server that was named by `ASK`; `nil` for the owner of the slot.
    var target: RedisTarget? {
        switch self {
        case .unclaimed(let target), .claimed(let target, _): target
        case .decided: nil
        }
    }
}
