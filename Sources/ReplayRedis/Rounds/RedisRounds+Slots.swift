internal import MediaToken

/// How the owners of a cluster's slots are found.
extension RedisRounds {
    /// Starts a query for the owners of the cluster's slots, or joins the one under way. Without a cluster it succeeds
    /// at once, because a single server owns all slots.
    ///
    /// - Parameter client: the caller that waits for the end of the search; `nil` if none does.
    mutating func searchSlots(for client: RedisSlotSearch.Client?, _ moment: RedisMoment) {
        guard configuration.isCluster else {
            if let client { tell(client, .success(())) }
            return
        }
        if search != nil {
            if let client { search?.clients.append(client) }
            return
        }
        let seeds = configuration.seeds.map { servers.number(of: $0) }
        let others = servers.owning.filter { !seeds.contains($0) }
        search = RedisSlotSearch(candidates: seeds + others, clients: client.map { [$0] } ?? [])
        searchNext(moment)
    }

    /// Asks the next server about the slots.
    mutating func searchNext(_ moment: RedisMoment) {
        guard let node = search?.candidates.first else {
            let error = search?.firstError ?? .unavailable("\(configuration.address) tells nothing of its cluster")
            return endSearch(.failure(error))
        }
        let number = nextNumber()
        let until = moment.instant + .milliseconds(max(1, configuration.timeout.clampedMilliseconds / 3))
        search?.candidates.removeFirst()
        search?.question = RedisSlotSearch.Question(node: node, number: number, deadline: until)
        wake(by: until)
        send(for: .slotSearch(number), to: node, moment)
    }

    mutating func searchAnswered(
        _ question: Int, _ reply: RedisReply, _ loss: ReplayStoreError, _ moment: RedisMoment
    ) {
        guard let node = search?.question?.node, search?.question?.number == question else { return }
        let address = address(node)
        switch reply {
        case .array(let ranges):
            if servers.learn(ranges, from: node) { return endSearch(.success(())) }
            searchFailed(question, .unavailable("\(address) is of a cluster that has no slots"), moment)
        case .error(let error): searchFailed(question, error.storeError(at: address), moment)
        default: searchFailed(question, loss, moment)
        }
    }

    mutating func searchFailed(_ question: Int, _ error: ReplayStoreError, _ moment: RedisMoment) {
        guard search?.question?.number == question else { return }
        if search?.firstError == nil { search?.firstError = error }
        searchNext(moment)
    }

    mutating func endSearch(_ outcome: Result<Void, ReplayStoreError>) {
        let clients = search?.clients ?? []
        search = nil
        for client in clients { tell(client, outcome) }
    }

    mutating func tell(_ client: RedisSlotSearch.Client, _ outcome: Result<Void, ReplayStoreError>) {
        switch client {
        case .group(let number):
            groups[number]?.learnedSlots(outcome)
            due.append(number)
        case .errand(let number): conclude(number, outcome.map { [] })
        }
    }
}
