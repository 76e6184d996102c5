internal import MediaToken

/// How commands get to a server: at once, or once a connection is free.
extension RedisRounds {
    /// Sends the commands of an asker to a server, now or when a connection is free.
    mutating func send(for asker: RedisAsker, to node: Int, _ moment: RedisMoment) {
        switch servers.nodes[node].way(at: moment.instant) {
        case .free(let lane): send(for: [asker], to: node, on: lane, moment)
        case .resting(let error): fail(asker, error, moment)
        case .busy(let makesConnection):
            servers.nodes[node].wait(asker)
            if makesConnection { connect(node, moment) }
        }
    }

    /// Sends what waited for a connection, if one is free: claims of all groups together, so that they wait for
    /// replicas once.
    mutating func sendWaiting(to node: Int, _ moment: RedisMoment) {
        let waiting = servers.nodes[node].takeWaiting()
        let shareable = waiting.filter(isShareable)
        // Others first, each on a connection that it finds: they are few, and claims wait for them.
        for asker in waiting where !isShareable(asker) { send(for: asker, to: node, moment) }
        guard !shareable.isEmpty, case .free(let lane) = servers.nodes[node].way(at: moment.instant) else {
            for asker in shareable { send(for: asker, to: node, moment) }
            return
        }
        send(for: shareable.filter { !isLate($0, to: node, moment) }, to: node, on: lane, moment)
    }

    private func isShareable(_ asker: RedisAsker) -> Bool {
        guard case .part(let number, let part) = asker else { return false }
        return groups[number]?.parts[part].isShareable == true
    }

    /// Whether the claims of an asker cannot be answered in time any more. They then fail, and nothing of them is sent.
    private mutating func isLate(_ asker: RedisAsker, to node: Int, _ moment: RedisMoment) -> Bool {
        guard case .part(let number, let part) = asker, let group = groups[number] else { return false }
        let needed = servers.nodes[node].confirmationTime
        // Half of what is left is for the WAIT.
        guard group.parts[part].isFirst, (group.deadline - moment.instant) / 2 < needed else { return false }
        let reason =
            "\(address(node)) takes \(needed.clampedMilliseconds) ms to confirm claims, longer than was left; "
            + "the token was not sent to it, and is not consumed"
        groups[number]?.refuse(part, .unavailable(reason))
        due.append(number)
        return true
    }

    private mutating func connect(_ node: Int, _ moment: RedisMoment) {
        let link = RedisLink(address: address(node), number: nextNumber())
        let until = deadline(after: moment)
        let lane = servers.nodes[node].greet(on: link, until: until)
        wake(by: until)
        actions.append(.connect(link))
        let commands = selection + RedisServerFacts.greeting(configuration)
        send(commands, facts: selection.count..<commands.count, for: .greeting, to: node, on: lane, moment)
    }

    /// The command that is sent before the first ones if the store is in a numbered database.
    var selection: [RedisCommand] {
        configuration.database == 0 ? [] : [["SELECT", String(configuration.database)]]
    }

    /// Sends the commands of askers on a free connection.
    private mutating func send(for askers: [RedisAsker], to node: Int, on lane: Int, _ moment: RedisMoment) {
        var flush = RedisFlush()
        for asker in askers {
            switch asker {
            case .part(let number, let position):
                // A caller whose deadline has passed wants nothing any more.
                guard let group = groups[number], let server = servers.nodes[node].lastFacts else { continue }
                let part = group.parts[position]
                if let doubt = part.importDoubt(server, address(node)) {
                    fail(asker, doubt, moment)
                    // Looks at the server again, so that the next claims go by what it then reports.
                    let facts = RedisServerFacts.commands(configuration)
                    send(facts, facts: facts.indices, for: .look, to: node, on: lane, moment)
                    continue
                }
                groups[number]?.parts[position].link = servers.nodes[node].lanes[lane].link
                if part.isShareable {
                    flush.add(part, of: group, for: asker)
                } else {
                    var alone = RedisFlush()
                    alone.add(part, of: group, for: asker)
                    send(alone, to: node, on: lane, moment)
                }
            case .errand(let number):
                guard let commands = errands[number]?.commands else { continue }
                send(commands, for: asker, to: node, on: lane, moment)
            case .slotSearch: send([["CLUSTER", "SLOTS"]], for: asker, to: node, on: lane, moment)
            case .greeting, .look: break
            }
        }
        // Last, because it may keep the connection busy.
        send(flush, to: node, on: lane, moment)
    }

    private mutating func send(_ flush: RedisFlush, to node: Int, on lane: Int, _ moment: RedisMoment) {
        guard !flush.isEmpty, let server = servers.nodes[node].lastFacts else { return }
        let (commands, facts, members) = flush.commands(to: server, at: moment.instant, terms)
        send(commands, facts: facts, isAsking: flush.isAsking, members: members, to: node, on: lane, moment)
    }

    private mutating func send(
        _ commands: [RedisCommand], facts: Range<Int> = 0..<0, for asker: RedisAsker, to node: Int, on lane: Int,
        _ moment: RedisMoment
    ) {
        send(
            commands, facts: facts, isAsking: false,
            members: [RedisBatch.Member(asker: asker, replies: Array(commands.indices))], to: node, on: lane, moment)
    }

    private mutating func send(
        _ commands: [RedisCommand], facts: Range<Int>, isAsking: Bool, members: [RedisBatch.Member], to node: Int,
        on lane: Int, _ moment: RedisMoment
    ) {
        let sent = isAsking ? commands.flatMap { [["ASKING"], $0] } : commands
        let awaited = commands.last.flatMap { $0.first == "WAIT" ? Int($0[1]) : nil } ?? 0
        let server = servers.nodes[node]
        actions.append(.send(sent, server.lanes[lane].link))
        servers.nodes[node].expect(
            RedisBatch(
                members: members, count: sent.count, facts: facts, isAsking: isAsking, awaited: awaited,
                askedAt: moment.instant, factsBefore: server.lastFacts),
            on: lane)
    }
}
