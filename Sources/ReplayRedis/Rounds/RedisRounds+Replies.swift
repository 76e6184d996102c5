internal import MediaToken

/// What replies mean, and what their absence means.
extension RedisRounds {
    /// Passes the replies of a finished batch to its asker. Replies that never came are ``RedisReply/lost``.
    mutating func complete(
        _ batch: RedisNode.Batch, on node: Int, loss: ReplayStoreError? = nil, _ moment: RedisMoment
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
            : servers.nodes[node].read(
                replies[batch.facts], askedAt: batch.askedAt, at: moment, loss: loss, configuration)
        switch batch.asker {
        case .greeting: greeted(by: node, replies, facts, moment)
        case .look: break
        case .slotSearch(let question): searchAnswered(question, replies[0], loss, moment)
        case .errand(let number):
            conclude(number, replies.firstError(at: address, loss: loss).map { .failure($0) } ?? .success(replies))
        case .part(let number, let part):
            let partReplies = RedisPartReplies(
                keys: replies[..<batch.facts.lowerBound], facts: facts, rest: replies[batch.facts.upperBound...],
                address: address, loss: loss)
            groups[number]?.receive(partReplies, to: part, at: moment.instant, &servers)
            due.append(number)
        }
    }

    /// Handles replies that concern a server rather than a claim: `MOVED` changes the owner of a slot, and `READONLY` ends
    /// the connection.
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

    mutating func greeted(
        by node: Int, _ replies: [RedisReply], _ facts: Result<RedisServerFacts, ReplayStoreError>,
        _ moment: RedisMoment
    ) {
        // A connection that was given up is not greeted any more.
        guard servers.nodes[node].greetingDeadline != nil else { return }
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
        case .success(let facts):
            servers.nodes[node].welcome(facts)
            for asker in servers.nodes[node].takeWaiting() { send(for: asker, to: node, moment) }
        case .failure(let error): drop(node, after: error, moment)
        }
    }

    // MARK: Losses

    /// Gives up a connection that does not do what it should.
    mutating func drop(_ node: Int, _ reason: String, _ moment: RedisMoment) {
        drop(node, after: .unavailable("\(address(node)) \(reason)"), moment)
    }

    private mutating func drop(_ node: Int, after error: ReplayStoreError, _ moment: RedisMoment) {
        guard let link = servers.nodes[node].link else { return }
        actions.append(.close(link))
        rest(node, after: error, moment)
    }

    /// Marks a server as out of reach for a short pause, and fails all commands that were sent to it or wait for it.
    mutating func rest(_ node: Int, after error: ReplayStoreError, _ moment: RedisMoment) {
        lose(servers.nodes[node].rest(after: error, at: moment.instant), on: node, error, moment)
        for asker in servers.nodes[node].takeWaiting() { fail(asker, error, moment) }
    }

    mutating func lose(
        _ batches: [RedisNode.Batch], on node: Int, _ error: ReplayStoreError, _ moment: RedisMoment
    ) {
        for var batch in batches where batch.asker != .greeting {
            batch.replies += Array(repeating: .lost, count: batch.count - batch.replies.count)
            complete(batch, on: node, loss: error, moment)
        }
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
