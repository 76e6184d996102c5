internal import MediaToken

/// What replies mean, and what their absence means.
extension RedisRounds {
    /// Passes the replies of a finished batch to its askers. Replies that never came are ``RedisReply/lost``.
    mutating func complete(
        _ batch: RedisBatch, on link: RedisLink, of node: Int, loss: ReplayStoreError? = nil, _ moment: RedisMoment
    ) {
        let address = address(node)
        let replies =
            batch.isAsking
            ? stride(from: 1, to: batch.replies.count, by: 2).map { batch.replies[$0] } : batch.replies
        takeUpErrors(in: replies, from: node, moment)
        let loss = loss ?? .unavailable("\(address) closed the connection")
        let facts: Result<RedisServerFacts, ReplayStoreError> =
            batch.facts.isEmpty
            ? .failure(loss)
            : servers.nodes[node].readFacts(of: batch, replies[batch.facts], at: moment, loss: loss, configuration)
        for member in batch.members {
            switch member.asker {
            case .greeting: greeted(on: link, of: node, replies, facts, moment)
            case .look: break
            case .slotSearch(let question): searchAnswered(question, replies[0], loss, moment)
            case .errand(let number):
                conclude(
                    number, replies.firstError(at: address, loss: loss).map { .failure($0) } ?? .success(replies))
            case .part(let number, let part):
                let partReplies = RedisPartReplies(
                    keys: member.replies.map { replies[$0] }, facts: facts,
                    rest: replies[batch.facts.upperBound...], awaited: batch.awaited, address: address, loss: loss)
                groups[number]?.receive(partReplies, to: part, at: moment.instant, &servers)
                due.append(number)
            }
        }
        if batch.isConfirming { sendWaiting(to: node, moment) }
    }

    /// Handles replies that concern a server rather than a claim: `MOVED` changes the owner of a slot, and `READONLY`
    /// ends the connection.
    mutating func takeUpErrors(in replies: [RedisReply], from node: Int, _ moment: RedisMoment) {
        var wasMoved = false
        for case .error(let error) in replies {
            if configuration.isCluster, let redirection = error.redirection, !redirection.isAsking {
                servers.follow(redirection, from: node)
                wasMoved = true
            }
            // The name of a primary may lead to another server by now.
            if error.code == "READONLY" { drop(node, "is a replica", moment) }
        }
        if wasMoved, search == nil { searchSlots(for: nil, moment) }
    }

    private mutating func greeted(
        on link: RedisLink, of node: Int, _ replies: [RedisReply], _ facts: Result<RedisServerFacts, ReplayStoreError>,
        _ moment: RedisMoment
    ) {
        // A connection that was given up is not greeted any more.
        guard let lane = servers.nodes[node].lane(of: link) else { return }
        let outcome: Result<RedisServerFacts, ReplayStoreError> =
            if !selection.isEmpty, case .error(let error) = replies[0] {
                .failure(error.storeError(at: address(node)))
            } else {
                // A server that evicts keys is asked all the same, so that markers record what it has lost.
                facts.flatMap { server in
                    server.misfit.map { .failure(.unavailable("\(address(node)) \($0)")) } ?? .success(server)
                }
            }
        switch outcome {
        case .success:
            servers.nodes[node].welcome(lane)
            sendWaiting(to: node, moment)
        case .failure(let error): drop(link, of: node, error, moment)
        }
    }

    // MARK: Losses

    /// Gives up all connections to a server that does not do what it should.
    mutating func drop(_ node: Int, _ reason: String, _ moment: RedisMoment) {
        for link in servers.nodes[node].lanes.map(\.link) { drop(link, of: node, reason, moment) }
    }

    /// Gives up a connection that does not do what it should.
    mutating func drop(_ link: RedisLink, of node: Int, _ reason: String, _ moment: RedisMoment) {
        drop(link, of: node, .unavailable("\(address(node)) \(reason)"), moment)
    }

    private mutating func drop(_ link: RedisLink, of node: Int, _ error: ReplayStoreError, _ moment: RedisMoment) {
        guard servers.nodes[node].lane(of: link) != nil else { return }
        actions.append(.close(link))
        lose(link, of: node, rests: true, error, moment)
    }

    /// Forgets a connection, and fails what was sent on it.
    ///
    /// - Parameter rests: whether no other is made for a moment. If there is no other, all that waits for one fails
    ///   too.
    mutating func lose(
        _ link: RedisLink, of node: Int, rests: Bool, _ error: ReplayStoreError, _ moment: RedisMoment
    ) {
        guard let lane = servers.nodes[node].lane(of: link) else { return }
        let batches = servers.nodes[node].remove(lane)
        if rests { servers.nodes[node].rest(after: error, at: moment.instant) }
        for var batch in batches where !batch.members.contains(where: { $0.asker == .greeting }) {
            batch.replies += Array(repeating: .lost, count: batch.count - batch.replies.count)
            complete(batch, on: link, of: node, loss: error, moment)
        }
        if servers.nodes[node].lanes.isEmpty { sendWaiting(to: node, moment) }
    }

    /// Tells an asker that its commands were not sent.
    mutating func fail(_ asker: RedisAsker, _ error: ReplayStoreError, _ moment: RedisMoment) {
        switch asker {
        case .part(let number, let part):
            groups[number]?.unreachable(part, error)
            due.append(number)
        case .errand(let number): conclude(number, .failure(error))
        case .slotSearch(let question): searchFailed(question, error, moment)
        case .greeting, .look: break
        }
    }
}
