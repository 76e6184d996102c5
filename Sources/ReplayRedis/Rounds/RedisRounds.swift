package import MediaToken

/// All that a Redis store decides, as a value: events in, actions out.
///
/// It does no I/O and reads no clock, so every order of events that servers and networks can produce can be tried in a
/// test. Its owner carries out the actions in their order, and reports what came of them, with the time when it did.
package struct RedisRounds {
    package typealias Instant = ContinuousClock.Instant

    package enum Action {
        /// Connect, and log in.
        case connect(RedisLink)
        case send([RedisCommand], RedisLink)
        case close(RedisLink)
        /// Tell the caller of a group its answers, one for each claim.
        case answer(group: Int, [Result<ReplayAnswer, ReplayCacheError>])
        /// Tell the caller of an errand what came of it.
        case conclude(errand: Int, Result<[RedisReply], ReplayCacheError>)
    }

    /// Something that an operator's tool wants of the servers.
    private struct Errand {
        let commands: [RedisCommand]
        let deadline: Instant
        let address: RedisAddress
    }

    /// The time at which ``elapsed(at:)`` is to be called, at the latest; `nil` if nothing waits. It may be earlier than
    /// the next deadline.
    package private(set) var alarm: Instant?
    private(set) var servers: RedisServers

    private let terms: RedisTerms
    private var groups: [Int: RedisClaimGroup] = [:]
    private var errands: [Int: Errand] = [:]
    private var search: RedisSlotSearch?
    /// Groups whose round may be over.
    private var due: [Int] = []
    private var actions: [Action] = []
    /// The number of actions that were taken out.
    private var taken = 0
    private var lastNumber = 0

    package init(_ configuration: RedisConfiguration) {
        terms = RedisTerms(configuration)
        servers = RedisServers(terms)
    }

    private var configuration: RedisConfiguration { terms.configuration }

    /// Takes the next action that is to be carried out; `nil` if there is none. Actions keep their order even if carrying
    /// one out begins something new.
    package mutating func nextAction() -> Action? {
        guard taken < actions.count else {
            actions.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return actions[taken - 1]
    }

    // MARK: Events

    /// Begins to decide the claims of a group, in order.
    ///
    /// - Parameter now: the caller's time.
    /// - Returns: the number that ``Action/answer(group:_:)`` names. The answer comes within the configuration's deadline.
    package mutating func claim(_ claims: [ReplayClaim], at now: Timestamp, _ moment: RedisMoment) -> Int {
        begin(RedisClaimGroup(claims, at: now, begun: moment.instant, terms), moment)
    }

    /// Begins to check that claims may be accepted on every server now, and to set the markers that are missing, so that
    /// the store remembers from now on.
    ///
    /// - Returns: the number that ``Action/conclude(errand:_:)`` names.
    package mutating func open(at now: Timestamp, _ moment: RedisMoment) -> Int {
        begin(RedisClaimGroup([], isOpening: true, at: now, begun: moment.instant, terms), moment)
    }

    private mutating func begin(_ group: RedisClaimGroup, _ moment: RedisMoment) -> Int {
        let number = nextNumber()
        groups[number] = group
        wake(by: group.deadline)
        due.append(number)
        settle(moment)
        return number
    }

    /// Begins to learn the owners of a cluster's slots; see ``open(at:_:)``.
    mutating func learnSlots(_ moment: RedisMoment) -> Int {
        let number = begin(Errand(commands: [], deadline: deadline(after: moment), address: configuration.address))
        searchSlots(for: .errand(number), moment)
        settle(moment)
        return number
    }

    /// Begins to send commands to the server with a number; see ``open(at:_:)``.
    mutating func ask(_ commands: [RedisCommand], of node: Int, _ moment: RedisMoment) -> Int {
        let address = servers.nodes[node].address
        let number = begin(Errand(commands: commands, deadline: deadline(after: moment), address: address))
        send(for: .errand(number), to: node, moment)
        settle(moment)
        return number
    }

    private mutating func begin(_ errand: Errand) -> Int {
        let number = nextNumber()
        errands[number] = errand
        wake(by: errand.deadline)
        return number
    }

    /// Records replies that came on a connection, in their order.
    package mutating func received(_ replies: [RedisReply], on link: RedisLink, _ moment: RedisMoment) {
        let node = servers.number(of: link.address)
        for reply in replies {
            // Replies on a connection that was given up count for nothing.
            guard servers.nodes[node].link == link, let batch = servers.nodes[node].add(reply) else { continue }
            complete(batch, on: node, moment)
        }
        settle(moment)
    }

    /// Records that a connection ended, or could not be made.
    package mutating func ended(_ link: RedisLink, _ error: ReplayCacheError, _ moment: RedisMoment) {
        let node = servers.number(of: link.address)
        guard servers.nodes[node].link == link else { return }
        if servers.nodes[node].greetingDeadline != nil {
            rest(node, after: error, moment)
        } else {
            lose(servers.nodes[node].disconnect(), on: node, error, moment)
        }
        settle(moment)
    }

    /// Ends what has waited for too long.
    package mutating func elapsed(_ moment: RedisMoment) {
        let now = moment.instant
        if let question = search?.question, question.deadline <= now {
            // A server that hangs must not keep the others from being asked.
            let reason = "does not tell its cluster's slots"
            searchFailed(question.number, .unavailable("\(address(question.node)) \(reason)"), moment)
            drop(question.node, reason, moment)
        }
        for (number, group) in groups where group.deadline <= now {
            var group = group
            let silent = group.expire(servers)
            finish(number, group)
            // What still comes on these connections would only keep the next callers waiting.
            for node in silent { drop(node, terms.silence, moment) }
        }
        for (number, errand) in errands where errand.deadline <= now {
            conclude(number, .failure(.unavailable("\(errand.address) \(terms.silence)")))
        }
        for node in servers.nodes.indices where servers.nodes[node].greetingDeadline.map({ $0 <= now }) == true {
            drop(node, terms.silenceAtFirst, moment)
        }
        settle(moment)
        let deadlines =
            groups.values.map(\.deadline) + errands.values.map(\.deadline)
            + (search?.question.map { [$0.deadline] } ?? [])
            + servers.nodes.compactMap(\.greetingDeadline)
        alarm = deadlines.min()
    }

    // MARK: Groups

    /// Moves on each group whose round is over.
    private mutating func settle(_ moment: RedisMoment) {
        while let number = due.popLast() {
            guard groups[number]?.isRoundOver == true, let next = groups[number]?.next(&servers) else { continue }
            switch next {
            case .ask: sendRound(of: number, moment)
            case .learnSlots: searchSlots(for: .group(number), moment)
            case .finish:
                if let group = groups[number] { finish(number, group) }
            }
        }
    }

    private mutating func sendRound(of number: Int, _ moment: RedisMoment) {
        let targets = groups[number]?.parts.map(\.target) ?? []
        for (part, target) in targets.enumerated() {
            send(for: .part(group: number, part: part), to: target.node, moment)
        }
    }

    private mutating func finish(_ number: Int, _ group: RedisClaimGroup) {
        groups[number] = nil
        if group.isOpening {
            actions.append(.conclude(errand: number, group.failure.map { .failure($0) } ?? .success([])))
        } else {
            actions.append(.answer(group: number, group.answers))
        }
    }

    private mutating func conclude(_ errand: Int, _ outcome: Result<[RedisReply], ReplayCacheError>) {
        guard errands.removeValue(forKey: errand) != nil else { return }
        actions.append(.conclude(errand: errand, outcome))
    }

    // MARK: Sending

    /// Sends the commands of an asker to a server: at once, or when the server has been greeted.
    private mutating func send(for asker: RedisAsker, to node: Int, _ moment: RedisMoment) {
        switch servers.nodes[node].state {
        case .ready(let link, let facts): send(for: asker, to: node, on: link, facts, moment)
        case .greeting: servers.nodes[node].wait(asker)
        case .resting(let error, let until) where until > moment.instant: fail(asker, error, moment)
        case .unconnected, .resting:
            servers.nodes[node].wait(asker)
            connect(node, moment)
        }
    }

    private mutating func connect(_ node: Int, _ moment: RedisMoment) {
        let link = RedisLink(address: address(node), number: nextNumber())
        let until = deadline(after: moment)
        servers.nodes[node].greet(on: link, until: until)
        wake(by: until)
        actions.append(.connect(link))
        let commands = selection + RedisServerFacts.greeting
        send(commands, facts: selection.count..<commands.count, for: .greeting, to: node, on: link, moment)
    }

    /// The command that is sent before the first ones if the store is in a numbered database.
    private var selection: [RedisCommand] {
        configuration.database == 0 ? [] : [["SELECT", String(configuration.database)]]
    }

    private mutating func send(
        for asker: RedisAsker, to node: Int, on link: RedisLink, _ server: RedisServerFacts, _ moment: RedisMoment
    ) {
        switch asker {
        case .part(let number, let position):
            groups[number]?.parts[position].isSent = true
            // A caller whose deadline has passed wants nothing any more.
            guard let group = groups[number] else { return }
            let part = group.parts[position]
            if let doubt = part.importDoubt(server, link.address) {
                fail(asker, doubt, moment)
                // Looks at the server again, so that the next claims go by what it then reports.
                let facts = RedisServerFacts.commands
                return send(facts, facts: facts.indices, for: .look, to: node, on: link, moment)
            }
            let (commands, facts) = group.commands(of: part, server, at: moment.instant)
            send(commands, facts: facts, isAsking: part.target.isAsking, for: asker, to: node, on: link, moment)
        case .errand(let number):
            guard let commands = errands[number]?.commands else { return }
            send(commands, for: asker, to: node, on: link, moment)
        case .slotSearch: send([["CLUSTER", "SLOTS"]], for: asker, to: node, on: link, moment)
        case .greeting, .look: break
        }
    }

    private mutating func send(
        _ commands: [RedisCommand], facts: Range<Int> = 0..<0, isAsking: Bool = false, for asker: RedisAsker,
        to node: Int, on link: RedisLink, _ moment: RedisMoment
    ) {
        let sent = isAsking ? commands.flatMap { [["ASKING"], $0] } : commands
        actions.append(.send(sent, link))
        servers.nodes[node].expect(
            RedisNode.Batch(
                asker: asker, count: sent.count, facts: facts, isAsking: isAsking, askedAt: moment.instant))
    }

    // MARK: Replies

    /// Takes up a batch that all replies have come for, or whose missing replies are ``RedisReply/lost``.
    private mutating func complete(
        _ batch: RedisNode.Batch, on node: Int, loss: ReplayCacheError? = nil, _ moment: RedisMoment
    ) {
        let address = address(node)
        let replies =
            batch.isAsking
            ? stride(from: 1, to: batch.replies.count, by: 2).map { batch.replies[$0] } : batch.replies
        takeUpErrors(in: replies, from: node, moment)
        let loss = loss ?? .unavailable("\(address) closed the connection")
        let facts: Result<RedisServerFacts, ReplayCacheError> =
            batch.facts.isEmpty
            ? .failure(loss)
            : servers.nodes[node].read(
                replies[batch.facts], askedAt: batch.askedAt, at: moment, loss: loss, configuration)
        switch batch.asker {
        case .greeting: greeted(by: node, replies, facts, moment)
        case .look: break
        case .slotSearch(let question): searchAnswered(question, replies[0], loss, moment)
        case .errand(let number): conclude(number, errandOutcome(replies, address, loss))
        case .part(let number, let part):
            let partReplies = RedisPartReplies(
                keys: replies[..<batch.facts.lowerBound], facts: facts, rest: replies[batch.facts.upperBound...],
                address: address, loss: loss)
            groups[number]?.receive(partReplies, to: part, at: moment.instant, &servers)
            due.append(number)
        }
    }

    /// Draws the conclusions from errors that concern a server rather than a claim.
    private mutating func takeUpErrors(in replies: [RedisReply], from node: Int, _ moment: RedisMoment) {
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
        by node: Int, _ replies: [RedisReply], _ facts: Result<RedisServerFacts, ReplayCacheError>,
        _ moment: RedisMoment
    ) {
        // A connection that was given up is not greeted any more.
        guard servers.nodes[node].greetingDeadline != nil else { return }
        let outcome: Result<RedisServerFacts, ReplayCacheError> =
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
        case .failure(let error):
            if let link = servers.nodes[node].link { actions.append(.close(link)) }
            rest(node, after: error, moment)
        }
    }

    private func errandOutcome(
        _ replies: [RedisReply], _ address: RedisAddress, _ loss: ReplayCacheError
    ) -> Result<[RedisReply], ReplayCacheError> {
        for case .error(let error) in replies where error.redirection == nil {
            return .failure(error.storeError(at: address))
        }
        return replies.contains(.lost) ? .failure(loss) : .success(replies)
    }

    // MARK: Losses

    /// Gives up a connection that does not do what it should.
    private mutating func drop(_ node: Int, _ reason: String, _ moment: RedisMoment) {
        guard let link = servers.nodes[node].link else { return }
        actions.append(.close(link))
        rest(node, after: .unavailable("\(address(node)) \(reason)"), moment)
    }

    /// Leaves a server alone for a moment; whoever waits for it is told why.
    private mutating func rest(_ node: Int, after error: ReplayCacheError, _ moment: RedisMoment) {
        lose(servers.nodes[node].rest(after: error, at: moment.instant), on: node, error, moment)
        for asker in servers.nodes[node].takeWaiting() { fail(asker, error, moment) }
    }

    private mutating func lose(
        _ batches: [RedisNode.Batch], on node: Int, _ error: ReplayCacheError, _ moment: RedisMoment
    ) {
        for var batch in batches where batch.asker != .greeting {
            batch.replies += Array(repeating: .lost, count: batch.count - batch.replies.count)
            complete(batch, on: node, loss: error, moment)
        }
    }

    /// Tells an asker that its commands were not sent.
    private mutating func fail(_ asker: RedisAsker, _ error: ReplayCacheError, _ moment: RedisMoment) {
        switch asker {
        case .part(let number, let part):
            groups[number]?.unreachable(part, error)
            due.append(number)
        case .errand(let number): conclude(number, .failure(error))
        case .slotSearch(let question): searchFailed(question, error, moment)
        case .greeting, .look: break
        }
    }

    // MARK: Slots

    /// Asks the cluster for the owners of its slots, or joins a search that is under way. A single server owns all.
    ///
    /// - Parameter client: who is told when the search is over; `nil` if nobody waits.
    private mutating func searchSlots(for client: RedisSlotSearch.Client?, _ moment: RedisMoment) {
        guard configuration.isCluster else {
            if let client { tell(client, .success(())) }
            return
        }
        if search != nil {
            if let client { search?.clients.append(client) }
            return
        }
        let first = servers.number(of: configuration.address)
        let others = servers.owning.filter { $0 != first }
        search = RedisSlotSearch(candidates: [first] + others, clients: client.map { [$0] } ?? [])
        searchNext(moment)
    }

    /// Asks the next server about the slots.
    private mutating func searchNext(_ moment: RedisMoment) {
        guard let node = search?.candidates.first else {
            let error = search?.firstError ?? .unavailable("\(configuration.address) tells nothing of its cluster")
            return endSearch(.failure(error))
        }
        let number = nextNumber()
        let until = moment.instant + .milliseconds(max(1, configuration.timeoutMilliseconds / 3))
        search?.candidates.removeFirst()
        search?.question = RedisSlotSearch.Question(node: node, number: number, deadline: until)
        wake(by: until)
        send(for: .slotSearch(number), to: node, moment)
    }

    private mutating func searchAnswered(
        _ question: Int, _ reply: RedisReply, _ loss: ReplayCacheError, _ moment: RedisMoment
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

    private mutating func searchFailed(_ question: Int, _ error: ReplayCacheError, _ moment: RedisMoment) {
        guard search?.question?.number == question else { return }
        if search?.firstError == nil { search?.firstError = error }
        searchNext(moment)
    }

    private mutating func endSearch(_ outcome: Result<Void, ReplayCacheError>) {
        let clients = search?.clients ?? []
        search = nil
        for client in clients { tell(client, outcome) }
    }

    private mutating func tell(_ client: RedisSlotSearch.Client, _ outcome: Result<Void, ReplayCacheError>) {
        switch client {
        case .group(let number):
            groups[number]?.learnedSlots(outcome)
            due.append(number)
        case .errand(let number): conclude(number, outcome.map { [] })
        }
    }

    // MARK: Numbers and times

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func wake(by instant: Instant) {
        alarm = alarm.map { min($0, instant) } ?? instant
    }

    private func deadline(after moment: RedisMoment) -> Instant {
        moment.instant + .milliseconds(configuration.timeoutMilliseconds)
    }

    private func address(_ node: Int) -> RedisAddress { servers.nodes[node].address }
}
