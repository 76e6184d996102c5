/// How commands get to a server: at once, or once it is connected.
extension RedisRounds {
    /// Sends the commands of an asker to a server: at once, or when the server has been greeted.
    mutating func send(for asker: RedisAsker, to node: Int, _ moment: RedisMoment) {
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
    var selection: [RedisCommand] {
        configuration.database == 0 ? [] : [["SELECT", String(configuration.database)]]
    }

    mutating func send(
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

    mutating func send(
        _ commands: [RedisCommand], facts: Range<Int> = 0..<0, isAsking: Bool = false, for asker: RedisAsker,
        to node: Int, on link: RedisLink, _ moment: RedisMoment
    ) {
        let sent = isAsking ? commands.flatMap { [["ASKING"], $0] } : commands
        actions.append(.send(sent, link))
        servers.nodes[node].expect(
            RedisNode.Batch(
                asker: asker, count: sent.count, facts: facts, isAsking: isAsking, askedAt: moment.instant))
    }
}
