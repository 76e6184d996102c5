internal import MediaToken

/// What a server's replies mean for claims and for markers.
extension RedisClaimGroup {
    /// Records what the replies to a part with claims mean for each of its claims.
    ///
    /// - Returns: whether markers are to be looked at before the claims go on.
    mutating func judge(_ replies: RedisPartReplies, to part: RedisPart, _ servers: inout RedisServers) -> Bool {
        let reader = Reader(part: part, replies: replies, isCluster: configuration.isCluster)
        let (claimReplies, markerReplies) = part.split(replies.keys)
        let markers = Dictionary(uniqueKeysWithValues: zip(part.shards, markerReplies))
        // A server whose clock is ahead may have forgotten a key, also one that was then claimed elsewhere.
        let doubt =
            clockDoubt(replies) ?? (part.claimed.isEmpty ? nil : replicaDoubt(replies)) ?? reader.serverDoubt
        let server = try? replies.facts.get()
        // A loss is recorded by the first round that sees it, even if no claim depends on it: a restart would hide it.
        var needsMarking =
            server.map { server in
                markers.values.lazy.compactMap { RedisMarker($0) }
                    .contains { $0.runID == server.runID && !$0.isOf(server) }
            } ?? false
        for position in part.judged {
            // The server that `ASK` named was asked; from now on it is the slot's owner, unless it says otherwise.
            if case .claimed(let target?, let answer) = stages[position], target.isAsking {
                stages[position] = .claimed(nil, answer)
            }
        }
        for (position, reply) in zip(part.claimed, claimReplies) {
            let claim = claims[position]
            let marker = markers[keys.shard(of: claim.key)]
            stages[position] = reader.stage(of: claim, after: reply, marker: marker, doubt, &servers)
        }
        for position in part.judged {
            let claim = claims[position]
            guard case .claimed(let place, let answer) = stages[position],
                let marker = markers[keys.shard(of: claim.key)]
            else { continue }
            if let stage = reader.stage(
                of: claim, answered: answer, at: place, marker: marker, server, doubt, &servers)
            {
                stages[position] = stage
            } else {
                needsMarking = true
            }
        }
        return needsMarking
    }

    private func clockDoubt(_ replies: RedisPartReplies) -> ReplayStoreError? {
        switch replies.rest.first {
        case .error(let error): return error.storeError(at: replies.address)
        case .lost, nil: return replies.lostAnswer
        case .some(let reply):
            guard let time = RedisClock.time(reply) else {
                return .unavailable("\(replies.address) does not answer TIME as Redis does")
            }
            return RedisClock.problem(server: time, now: now).map { .unavailable("\(replies.address) \($0)") }
        }
    }

    private func replicaDoubt(_ replies: RedisPartReplies) -> ReplayStoreError? {
        // Facts that are missing are a doubt by themselves.
        try? replies.facts.get().replication.doubt(
            replies.rest.dropFirst().first, awaited: replies.awaited, at: replies.address, lost: replies.lostAnswer)
    }

    /// The part that writes the markers that are missing or do not hold; `nil` if there are none. It is a failure if no
    /// claim may be accepted on the server.
    func renewal(
        after replies: RedisPartReplies, to part: RedisPart, at instant: Instant
    ) -> Result<RedisPart?, ReplayStoreError> {
        if let error = replies.firstError { return .failure(error) }
        do throws(ReplayStoreError) {
            let server = try replies.facts.get()
            let (fence, serverTime) = try fence(replies, at: instant)
            var marks = RedisPart.Marks()
            var problem = server.problem
            for (shard, reply) in zip(part.shards, replies.keys) {
                let old = RedisMarker(reply)
                if let conflict = old?.conflict(with: server) { throw .conflicting("\(replies.address) \(conflict)") }
                problem = problem ?? old?.problem(on: server)
                guard let new = renewed(reply, by: server, fence) else { continue }
                // Without a cluster's table nobody knows who could be promoted with what was there before.
                let needsWitnesses = server.replication.witnesses != 0 && (old != nil || configuration.isCluster)
                let first = needsWitnesses ? new.prepared(over: old) ?? new : new
                marks.commands.append(keys.replaceMarker(of: shard, reply.text, by: first.text, at: serverTime))
                marks.next.append(first == new ? nil : (shard, new))
            }
            if marks.next.contains(where: { $0 != nil }) {
                if let witnesses = server.replication.witnesses {
                    marks.witnesses = witnesses
                } else {
                    problem = problem ?? "does not report how many replicas it has"
                }
            }
            marks.problem = problem.map { .unavailable("\(replies.address) \($0)") }
            if marks.commands.isEmpty, let problem = marks.problem { throw problem }
            return .success(marks.commands.isEmpty ? nil : RedisPart(marking: marks, after: part))
        } catch {
            return .failure(error)
        }
    }

    /// The fence of a shard that begins now, since only tokens issued later can be decided, and the server's clock.
    ///
    /// It goes by the later of two clocks, so that a client whose clock is slow does not vouch for a time that it knows
    /// nothing of. It is taken after the markers and the server's facts were read: what was lost was lost before.
    private func fence(
        _ replies: RedisPartReplies, at instant: Instant
    ) throws(ReplayStoreError) -> (fence: Timestamp, serverTime: Timestamp) {
        let time = time(at: instant)
        guard let serverTime = replies.rest.first.flatMap(RedisClock.time) else {
            throw .unavailable("\(replies.address) does not answer TIME as Redis does")
        }
        if let problem = RedisClock.problem(server: serverTime, now: time) {
            throw .unavailable("\(replies.address) \(problem)")
        }
        let skew = configuration.clockSkew.clampedMilliseconds
        return (max(time, serverTime).advanced(byMilliseconds: skew), serverTime)
    }

    /// The marker that is to be set in the place of the one that was read; `nil` if that one holds.
    private func renewed(_ reply: RedisReply, by server: RedisServerFacts, _ fence: Timestamp) -> RedisMarker? {
        // A shard that another server owns by now is looked at there. A marker set on a replica would be believed
        // later.
        if case .error = reply { return nil }
        guard server.misfit == nil else { return nil }
        if let marker = RedisMarker(reply) {
            return marker.renewed(by: server, fence: fence)
        }
        return RedisMarker(beginningOn: server, fence: fence)
    }
}

extension RedisPartReplies {
    /// The first error among the replies about keys; `nil` if there is none.
    var firstError: ReplayStoreError? { keys.firstError(at: address, loss: loss) }

    /// Why not as many replicas as are wanted know of the markers that were written; `nil` if they do.
    func witnessDoubt(_ wanted: Int) -> ReplayStoreError? {
        guard wanted > 0 else { return nil }
        return RedisReplication.doubt(keys.last, awaited: wanted, at: address, lost: loss).map { error in
            guard case .unavailable(let reason) = error else { return error }
            return .unavailable(
                reason + "; until all have, no claim is accepted that waits for fewer replicas than there are: "
                    + "raise wait, or remove a replica that is gone (in a cluster CLUSTER FORGET)")
        }
    }

    /// The error for a claim whose answer was lost.
    var lostAnswer: ReplayStoreError {
        if case .unavailable(let reason) = loss { Self.lost(reason) } else { loss }
    }

    /// The error for a claim whose answer says nothing, because of what happened to the server.
    func lostAnswer(because reason: String) -> ReplayStoreError { Self.lost("\(address) \(reason)") }

    private static func lost(_ reason: String) -> ReplayStoreError {
        .unavailable(reason + "; an answer is lost, so its token may count as used")
    }
}

/// Reads the replies of one server to the claims of a part.
private struct Reader {
    typealias Stage = RedisClaimGroup.Stage

    let part: RedisPart
    let replies: RedisPartReplies
    let isCluster: Bool

    /// The stage of a claim by the server's reply to the claim itself.
    func stage(
        of claim: ReplayClaim, after reply: RedisReply, marker: RedisReply?, _ doubt: ReplayStoreError?,
        _ servers: inout RedisServers
    ) -> Stage {
        switch reply {
        case .error(let error):
            if let target = redirection(error, &servers) {
                guard target.isAsking else { return .unclaimed(nil) }
                // `ASK` says that the key is not here, which a server that forgets or evicts cannot know.
                return doubt.map { .decided(.failure($0)) } ?? .unclaimed(target)
            }
            return .decided(.failure(error.storeError(at: replies.address)))
        case .lost: return .decided(.failure(replies.lostAnswer))
        default: break
        }
        guard let answer = RedisKeys.answer(reply, to: claim) else {
            return .decided(.failure(.unavailable("\(replies.address) does not answer SET as Redis does")))
        }
        // "Already used" stands, whatever doubts there are about the server, its clock or its replicas.
        guard answer == .alreadyUsed else {
            let place = part.target.isAsking ? nil : part.target
            return doubt.map { .decided(.failure($0)) } ?? .claimed(place, answer)
        }
        let marker = marker.flatMap(RedisMarker.init)
        // The use may be that of another quorum, whose other servers are not asked.
        if let server = try? replies.facts.get(), let conflict = marker?.conflict(with: server) {
            return .decided(.failure(.conflicting("\(replies.address) \(conflict)")))
        }
        // A token that was refused for being older than the store is refused for that again.
        if let since = marker?.since, claim.issued <= since {
            return .decided(.success(.predatesStore(since: since)))
        }
        return .decided(.success(.alreadyUsed))
    }

    /// The stage of a claim that was carried out, by the marker of its shard; `nil` if the marker does not hold.
    func stage(
        of claim: ReplayClaim, answered answer: ReplayAnswer, at place: RedisTarget?, marker: RedisReply,
        _ server: RedisServerFacts?,
        _ doubt: ReplayStoreError?, _ servers: inout RedisServers
    ) -> Stage? {
        switch marker {
        case .error(let error):
            if let target = redirection(error, &servers) {
                guard target.isAsking else {
                    // A server that owned the slot for the claim, and does not for the marker, may have been replaced
                    // before by one that has no such claim.
                    return place == nil
                        ? .claimed(nil, answer) : .decided(.failure(replies.lostAnswer(because: "lost the slot")))
                }
                return doubt.map { .decided(.failure($0)) } ?? .claimed(target, answer)
            }
            return .decided(.failure(error.storeError(at: replies.address)))
        case .lost: return .decided(.failure(replies.lostAnswer))
        default: break
        }
        if let doubt { return .decided(.failure(doubt)) }
        guard let server, let marker = RedisMarker(marker), marker.isOf(server) else { return nil }
        if let problem = marker.problem(on: server) {
            return .decided(.failure(.unavailable("\(replies.address) \(problem)")))
        }
        let isKnown = claim.issued > marker.since
        return .decided(.success(isKnown ? answer : .predatesStore(since: marker.since)))
    }

    /// The server that a cluster names instead; `nil` for another error.
    private func redirection(_ error: RedisErrorReply, _ servers: inout RedisServers) -> RedisTarget? {
        guard isCluster, let redirection = error.redirection else { return nil }
        let node = servers.number(of: redirection, from: part.target.node)
        return RedisTarget(node: node, isAsking: redirection.isAsking)
    }

    /// Why the server cannot be relied on; `nil` if it can.
    var serverDoubt: ReplayStoreError? {
        switch replies.facts {
        case .failure(let error): error
        case .success(let server):
            server.problem.map { .unavailable("\(replies.address) \($0)") }
                ?? part.importDoubt(server, replies.address)
        }
    }
}

extension RedisPart {
    /// Why a server that is only about to get a slot may take no claim for it; `nil` if it may, or owns the slot.
    ///
    /// While a slot is being moved, its marker tells of the server that it leaves, and nothing of the one that it comes
    /// to. So the latter may take claims only if it loses nothing anyway.
    func importDoubt(_ server: RedisServerFacts, _ address: RedisAddress) -> ReplayStoreError? {
        let losesNothing = server.keepsThroughRestart && server.losses?.isWithoutEviction == true
        guard target.isAsking, !losesNothing else { return nil }
        return .unavailable("a slot is being moved to \(address), which could lose it; claims work once it is there")
    }
}
