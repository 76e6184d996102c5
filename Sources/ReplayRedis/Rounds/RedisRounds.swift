package import MediaToken

/// The decisions of a Redis store, without I/O: its owner reports events, and carries out the actions that it returns.
///
/// It reads no clock either, so a test can try every order of events that servers and networks can produce. The owner
/// carries out the actions in their order, and reports each outcome with its time.
package struct RedisRounds {
    package typealias Instant = ContinuousClock.Instant

    package enum Action {
        /// Connect, and log in.
        case connect(RedisLink)
        case send([RedisCommand], RedisLink)
        case close(RedisLink)
        /// Tell the caller of a group its answers, one for each claim.
        case answer(group: Int, [Result<ReplayAnswer, ReplayStoreError>])
        /// Tell the caller of an errand what came of it.
        case conclude(errand: Int, Result<[RedisReply], ReplayStoreError>)
    }

    /// Commands that the store's status needs carried out, outside of any claim.
    struct Errand {
        let commands: [RedisCommand]
        let deadline: Instant
        let address: RedisAddress
    }

    /// The time at which ``elapsed(at:)`` is to be called, at the latest; `nil` if nothing waits. It may be earlier
    /// than the next deadline.
    package private(set) var alarm: Instant?
    var servers: RedisServers

    let terms: RedisTerms
    var groups: [Int: RedisClaimGroup] = [:]
    var errands: [Int: Errand] = [:]
    var search: RedisSlotSearch?
    /// Groups whose round may be over.
    var due: [Int] = []
    var actions: [Action] = []
    /// The number of actions that were taken out.
    private var taken = 0
    private var lastNumber = 0

    package init(_ configuration: RedisConfiguration) {
        terms = RedisTerms(configuration)
        servers = RedisServers(terms)
    }

    var configuration: RedisConfiguration { terms.configuration }

    /// Takes the next action that is to be carried out; `nil` if there is none. Actions keep their order even if
    /// carrying one out begins something new.
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
    /// - Returns: the number that ``Action/answer(group:_:)`` names. The answer comes within the configuration's
    ///   deadline.
    package mutating func claim(_ claims: [ReplayClaim], at now: Timestamp, _ moment: RedisMoment) -> Int {
        begin(RedisClaimGroup(claims, at: now, begun: moment.instant, terms), moment)
    }

    /// Begins to check that claims may be accepted on every server now, and to set the markers that are missing, so
    /// that the store remembers from now on.
    ///
    /// - Parameters:
    ///   - timeouts: the time limit, as a multiple of the configuration's timeout.
    ///   - looksOnly: whether no marker is set. The conclusion then has a reply if one is missing.
    /// - Returns: the number that ``Action/conclude(errand:_:)`` names.
    package mutating func open(
        at now: Timestamp, timeouts: Int = 1, looksOnly: Bool = false, _ moment: RedisMoment
    ) -> Int {
        let group = RedisClaimGroup(
            [], isOpening: true, looksOnly: looksOnly, at: now, begun: moment.instant, timeouts: timeouts, terms)
        return begin(group, moment)
    }

    private mutating func begin(_ group: RedisClaimGroup, _ moment: RedisMoment) -> Int {
        let number = nextNumber()
        groups[number] = group
        wake(by: group.deadline)
        due.append(number)
        settle(moment)
        return number
    }

    /// Starts to ask the cluster which server owns each slot.
    ///
    /// - Returns: the number that ``Action/conclude(errand:_:)`` names.
    mutating func learnSlots(_ moment: RedisMoment) -> Int {
        let number = begin(Errand(commands: [], deadline: deadline(after: moment), address: configuration.address))
        searchSlots(for: .errand(number), moment)
        settle(moment)
        return number
    }

    /// Starts to send commands to the server with the number `node`.
    ///
    /// - Returns: the number that ``Action/conclude(errand:_:)`` names.
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
            guard let lane = servers.nodes[node].lane(of: link) else { break }
            guard servers.nodes[node].lanes[lane].awaitsReply else {
                // Each later reply would count as the one to another command.
                drop(link, of: node, "sends replies that nobody asked for", moment)
                break
            }
            if let batch = servers.nodes[node].add(reply, on: lane, at: moment.instant) {
                complete(batch, on: link, of: node, moment)
            }
        }
        settle(moment)
    }

    /// Records that a connection ended, or could not be made.
    package mutating func ended(_ link: RedisLink, _ error: ReplayStoreError, _ moment: RedisMoment) {
        let node = servers.number(of: link.address)
        guard let lane = servers.nodes[node].lane(of: link) else { return }
        lose(link, of: node, rests: servers.nodes[node].lanes[lane].greetingDeadline != nil, error, moment)
        settle(moment)
    }

    /// Fails every claim, errand, slot query and greeting whose deadline has passed.
    package mutating func elapsed(_ moment: RedisMoment) {
        let now = moment.instant
        if let question = search?.question, question.deadline <= now {
            // A server that hangs must not keep the others from being asked.
            let reason = "does not tell its cluster's slots"
            searchFailed(question.number, .unavailable("\(address(question.node)) \(reason)"), moment)
            drop(question.node, reason, moment)
        }
        for (number, group) in groups where group.deadline <= now {
            let silent = groups[number]?.expire(servers) ?? []
            finish(number)
            // What still comes on these connections would only keep the next callers waiting.
            for link in silent { drop(link, of: servers.number(of: link.address), terms.silence, moment) }
        }
        for (number, errand) in errands where errand.deadline <= now {
            conclude(number, .failure(.unavailable("\(errand.address) \(terms.silence)")))
        }
        for node in servers.nodes.indices {
            for lane in servers.nodes[node].lanes where lane.greetingDeadline.map({ $0 <= now }) == true {
                drop(lane.link, of: node, terms.silenceAtFirst, moment)
            }
        }
        settle(moment)
        let deadlines =
            groups.values.map(\.deadline) + errands.values.map(\.deadline)
            + (search?.question.map { [$0.deadline] } ?? [])
            + servers.nodes.flatMap(\.lanes).compactMap(\.greetingDeadline)
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
            case .finish: finish(number)
            }
        }
    }

    private mutating func sendRound(of number: Int, _ moment: RedisMoment) {
        let targets = groups[number]?.parts.map(\.target) ?? []
        for (part, target) in targets.enumerated() {
            send(for: .part(group: number, part: part), to: target.node, moment)
        }
    }

    private mutating func finish(_ number: Int) {
        guard let group = groups.removeValue(forKey: number) else { return }
        if group.isOpening {
            actions.append(
                .conclude(
                    errand: number, group.failure.map { .failure($0) } ?? .success(group.isMarkerMissing ? [.null] : [])
                ))
        } else {
            actions.append(.answer(group: number, group.answers))
        }
    }

    mutating func conclude(_ errand: Int, _ outcome: Result<[RedisReply], ReplayStoreError>) {
        guard errands.removeValue(forKey: errand) != nil else { return }
        actions.append(.conclude(errand: errand, outcome))
    }

    // MARK: Numbers and times

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func wake(by instant: Instant) {
        alarm = alarm.map { min($0, instant) } ?? instant
    }

    func deadline(after moment: RedisMoment) -> Instant {
        moment.instant + configuration.timeout
    }

    func address(_ node: Int) -> RedisAddress { servers.nodes[node].address }
}
