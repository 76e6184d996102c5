internal import MediaToken
internal import ReplayRedis

/// One run of clients and servers: the choices decide the servers' kind, and what happens next at every step.
package struct Schedule {
    private let world: World
    private var choices: Choices
    /// The kinds of faults that this schedule has: few of them, so that they meet more often.
    private let faults: [Fault]
    /// How many of a hundred steps are faults, from how many of the newest tokens a claim chooses, and into how many
    /// shards tokens fall.
    private let faultRate, choiceOfTokens, shardCount: Int
    /// For how many replicas each client waits.
    private let waits: [Int?]
    /// Servers whose clocks are so far ahead that claims must fail; they are not set right again.
    private var isClockBroken = false

    private enum Fault: CaseIterable {
        case restart, hang, flush, evict, reset, snapshot, failOver, pause, cutRegion, migrate, slowReplica, clock, cut
    }

    /// A schedule that went wrong.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// The choices that lead to it.
        package let choices: [UInt32]
    }

    /// Runs the schedule of a seed.
    ///
    /// - Throws: ``Failure``.
    package static func run(seed: UInt64, steps: Int = 150) throws(Failure) {
        try run(Choices(seed: seed), steps: steps, journal: false)
    }

    /// Runs a schedule by choices that were kept, and says what happens in it if `journal` is set.
    package static func run(_ choices: [UInt32], journal: Bool = false) throws(Failure) {
        try run(Choices(choices), steps: .max, journal: journal)
    }

    private static func run(_ choices: Choices, steps: Int, journal: Bool) throws(Failure) {
        var schedule = Schedule(choices, journal: journal)
        do throws(World.Violation) {
            try schedule.open()
            var step = 0
            while step < steps, !schedule.choices.isUsedUp {
                try schedule.step()
                step += 1
            }
            try schedule.recover()
        } catch {
            let lines = (schedule.world.journal ?? []) + [error.description]
            throw Failure(description: lines.joined(separator: "\n"), choices: schedule.choices.taken)
        }
    }

    /// Leaves out choices for as long as the schedule still goes wrong.
    package static func shrink(_ choices: [UInt32]) -> [UInt32] {
        var best = choices
        var size = best.count / 2
        while size > 0 {
            var begin = 0
            while begin < best.count {
                let shorter = Array(best[..<begin] + best[min(best.count, begin + size)...])
                do throws(Failure) {
                    try run(shorter)
                    begin += size
                } catch { best = error.choices.count < best.count ? error.choices : shorter }
            }
            size /= 2
        }
        return best
    }

    private init(_ choices: Choices, journal: Bool) {
        var choices = choices
        let kind = choices.pick(4)
        let (isCluster, isQuorum) = (kind < 2, kind == 2)
        let isDurable = choices.chance(50)
        let replicas = isQuorum ? 0 : choices.pick(3)
        let sameWait: Int? = [nil, 0, 1, 2][choices.pick(4)]
        let differ = choices.chance(30)
        waits = (0..<2).map { _ in
            let wait = differ ? [nil, 0, 1, 2][choices.pick(4)] : sameWait
            return wait.map { min($0, replicas) }
        }
        let offsets = (0..<2).map { _ in Int64(choices.pick(4001)) - 2000 }
        world = World(
            isCluster: isCluster, isQuorum: isQuorum, isDurable: isDurable, replicas: replicas, waits: waits,
            clockOffsets: offsets)
        faults = Fault.allCases.filter { _ in choices.chance(30) }
        faultRate = [4, 8, 16][choices.pick(3)]
        choiceOfTokens = [2, 6][choices.pick(2)]
        shardCount = [1, 4][choices.pick(2)]
        self.choices = choices
        if journal { world.journal = [] }
        world.note(
            "cluster \(isCluster), quorum \(isQuorum), durable \(isDurable), replicas \(replicas), waits \(waits), clocks \(offsets)"
        )
    }

    /// Has most schedules begin with a store that a client has opened.
    private mutating func open() throws(World.Violation) {
        guard choices.chance(75) else { return }
        try world.open(by: world.clients[0])
        try drain()
        try world.pass(10_000)
    }

    // MARK: Steps

    private mutating func step() throws(World.Violation) {
        guard choices.pick(100) >= faultRate else { return fault() }
        switch choices.pick(100) {
        case 0..<28: execute()
        case 28..<56: try deliver()
        case 56..<66: try drain()
        case 66..<86: try claim()
        case 86..<96: try world.pass(Int64(1 + choices.pick(20)))
        case 96..<98: try world.pass(Int64(50 + choices.pick(400)))
        case 98: try world.pass(Int64(60_000 + choices.pick(600_000)))
        default: for server in world.servers { server.replicate(1 + choices.pick(6)) }
        }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[choices.pick(elements.count)]
    }

    /// How many commands or replies go on at once: one, some, or all.
    private mutating func pickCount() -> Int { [1, 1, 2 + choices.pick(8), .max, .max][choices.pick(5)] }

    private mutating func execute() {
        let connections = world.clients.flatMap(\.connections)
            .filter { !$0.toServer.isEmpty && $0.server.isUp && !$0.server.isHung && $0.ending == nil }
        if let connection = pick(connections) { world.execute(pickCount(), on: connection) }
    }

    private mutating func deliver() throws(World.Violation) {
        let connections = world.clients.flatMap { client in
            client.connections.filter { !$0.isAbandoned && (!$0.toClient.isEmpty || $0.ending != nil) }
                .map { (client: client, connection: $0) }
        }
        guard let (client, connection) = pick(connections) else { return }
        try world.deliver(pickCount(), on: connection, to: client)
    }

    private mutating func claim() throws(World.Violation) {
        let client = world.clients[choices.pick(world.clients.count)]
        let wanted = (0..<(1 + choices.pick(3))).map { _ in
            let isKnown = world.tokenCount > 0 && choices.chance(65)
            // Some are issued ahead of the true time, by Adobe's clock.
            let token =
                isKnown
                ? world.tokenCount - 1 - choices.pick(min(choiceOfTokens, world.tokenCount))
                : world.makeToken(shard: choices.pick(shardCount), age: Int64(choices.pick(6000)) - 1900)
            return (token: token, fingerprint: choices.chance(20) ? choices.pick(2) : nil as Int?)
        }
        try world.claim(wanted, by: client)
    }

    private mutating func cut() {
        let connections = world.clients.flatMap { client in
            client.connections.filter { !$0.isAbandoned && $0.ending == nil }.map { (client: client, connection: $0) }
        }
        guard let (client, connection) = pick(connections) else { return }
        world.cut(connection, of: client, losesCommands: choices.chance(50))
    }

    // MARK: Faults

    private mutating func fault() {
        if let late = world.servers.first(where: { $0.past != nil }), choices.chance(30) { return settle(late) }
        let up = world.servers.filter { $0.isUp && $0.primary == nil && $0.past == nil }
        guard let server = pick(up), let fault = pick(faults) else { return }
        let isMoving = !server.migrating.isEmpty || !server.importing.isEmpty
        switch fault {
        case .restart: restart(server)
        case .hang:
            server.isHung.toggle()
            world.note("server \(server.port) \(server.isHung ? "hangs" : "goes on")")
        // Nobody can know of a server that loses keys while slots are moved from it or to it.
        case .flush where isMoving, .evict where isMoving: break
        case .flush:
            world.note("server \(server.port) is emptied")
            server.flush()
        case .evict: evict(server)
        case .reset:
            world.note("the counts of server \(server.port) are set back")
            server.resetCounts(microseconds: 10 + choices.pick(1_000_000))
        case .snapshot:
            world.note("server \(server.port) takes a snapshot")
            server.snapshot = server.keys
        case .failOver:
            // A replica does not know of slots that are being moved.
            if !isMoving { failOver(server) }
        case .pause: if !isMoving { pause(server) }
        case .cutRegion: if !isMoving { cutRegion(at: server) }
        case .migrate: if !isMoving || choices.chance(30) { migrate(from: server) }
        case .slowReplica:
            if !server.followers.isEmpty { server.followers[choices.pick(server.followers.count)].isSlow.toggle() }
        case .clock: if choices.chance(20) { step(theClockOf: server) }
        case .cut: cut()
        }
    }

    private mutating func restart(_ server: ModelServer) {
        // Nobody can know of a run that lost keys and ended before it was asked.
        guard !server.hidesLoss else { return }
        let restoresSnapshot = choices.chance(50)
        world.note("server \(server.port) is restarted\(restoresSnapshot ? " with its snapshot" : "")")
        // A replica must not copy an old snapshot and then take over before any claim has reached its primary.
        if !server.isDurable { server.loseReplicas() }
        server.restart(restoresSnapshot: restoresSnapshot)
        world.loseConnections(to: server)
    }

    /// Has a server drop a key to make room, under a policy that is then set back or not.
    private mutating func evict(_ server: ModelServer) {
        guard let key = pick(server.keys.keys.sorted()) else { return }
        world.note("server \(server.port) evicts \(key)")
        server.evict(key)
        server.policy = choices.chance(50) ? "noeviction" : "allkeys-lru"
    }

    private mutating func failOver(_ server: ModelServer) {
        guard world.cutRegion == nil, let replica = pick(server.followers)?.server, replica.isUp,
            !server.hidesLossFromReplica
        else { return }
        world.note("server \(server.port) dies, and its replica \(replica.port) takes over")
        replica.promote()
        world.loseConnections(to: server)
    }

    /// Stops a server until a replica has taken over. When it goes on, it goes by what it knew, for a while.
    private mutating func pause(_ server: ModelServer) {
        // A client that waits for no replica cannot tell such a server from the owner of its slots.
        guard world.configuration.isCluster, !waits.contains(0), world.cutRegion == nil,
            let replica = pick(server.followers)?.server, !server.hidesLossFromReplica
        else { return }
        world.note("server \(server.port) is paused, and its replica \(replica.port) takes over")
        server.isHung = true
        replica.promote {
            ModelServer.Past(slots: $0.slots, replicas: $0.replicas, stops: nil)
        }
    }

    /// Cuts a region off, or has a replica outside of it take over from its primary, or ends the cut.
    private mutating func cutRegion(at server: ModelServer) {
        let isQuorum = world.configuration.isQuorum
        guard world.configuration.isCluster || isQuorum else { return }
        guard let region = world.cutRegion else {
            guard isQuorum || !server.followers.isEmpty, !server.isHung else { return }
            return world.cutOff(server, isNear: choices.chance(50), clients: choices.chance(70) ? [1] : [])
        }
        let far = region.primary.followers.filter(\.isCutOff).map(\.server)
        guard choices.chance(60), region.primary.past == nil, !region.primary.hidesLossFromReplica,
            let replica = pick(far)
        else { return world.heal() }
        world.note("the replica \(replica.port) takes over from \(region.primary.port), which is cut off")
        let stops = world.now + ModelServer.nodeTimeout / 2
        replica.promote {
            ModelServer.Past(slots: $0.slots, replicas: $0.replicas, stops: stops)
        }
    }

    /// Has a server that was replaced go on or, if it has gone on, learn that it was replaced.
    private mutating func settle(_ server: ModelServer) {
        if server.isHung {
            world.note("server \(server.port) goes on as before")
            server.isHung = false
        } else if world.cutRegion == nil {
            world.learn(server)
        }
    }

    /// Begins, continues or ends the move of a slot to another server.
    private mutating func migrate(from server: ModelServer) {
        if let (slot, port) = server.migrating.min(by: { $0.key < $1.key }) {
            guard let target = world.servers.first(where: { $0.port == port }), target.isUp, !server.hidesLoss
            else { return }
            let keys = server.keys.keys.filter { ModelServer.slot(of: $0) == slot }.sorted()
            if let key = pick(keys) {
                world.note("\(key) moves from \(server.port) to \(port)")
                return server.move(key, to: target)
            }
            world.note("slot \(slot) belongs to \(port) from now on")
            server.migrating[slot] = nil
            server.slots.remove(slot)
            target.importing.remove(slot)
            target.slots.insert(slot)
        } else {
            let targets = world.servers.filter { $0 !== server && $0.isUp && $0.primary == nil && $0.past == nil }
            let slots = world.slots.prefix(shardCount).filter(server.slots.contains)
            guard let target = pick(targets), let slot = pick(slots), server.importing.isEmpty,
                target.migrating.isEmpty
            else { return }
            world.note("slot \(slot) begins to move from \(server.port) to \(target.port)")
            server.migrating[slot] = target.port
            target.importing.insert(slot)
        }
    }

    private mutating func step(theClockOf server: ModelServer) {
        let ahead: Int64 = choices.chance(50) ? 400_000 : Int64(choices.pick(200_000))
        guard server.clockOffset < ahead else { return }
        world.note("the clock of server \(server.port) is \(ahead) ms ahead")
        server.clockOffset = ahead
        if ahead > 200_000 { isClockBroken = true }
    }

    // MARK: The end

    /// Claims every token once more, as things are and again when all is set right; then demands that a fresh token of
    /// each shard is accepted before long.
    private mutating func recover() throws(World.Violation) {
        for server in world.servers { server.isHung = false }
        try claimAllAgain(by: world.clients[1])
        for server in world.servers {
            server.policy = "noeviction"
        }
        world.renewReplicas()
        try claimAllAgain(by: world.clients[0])
        guard !isClockBroken else { return }
        for shard in 0..<shardCount {
            for attempt in 0... {
                if world.servers.contains(where: \.hidesLoss) {
                    try world.open(by: world.clients[0])
                    try drain()
                }
                for server in world.servers {
                    while !server.migrating.isEmpty, !server.hidesLoss { migrate(from: server) }
                }
                let token = world.makeToken(shard: shard, age: 0)
                try world.claim([(token, nil)], by: world.clients[0])
                try drain()
                // A fence by a clock that is ahead lies in the future.
                try world.pass(10_000)
                if world.isAccepted(token) { break }
                guard attempt < 30 else {
                    throw World.Violation(description: "a fresh token of shard \(shard) is not accepted any more")
                }
            }
        }
    }

    private mutating func claimAllAgain(by client: ModelClient) throws(World.Violation) {
        try drain()
        try world.pass(1000)
        try world.claim((0..<world.tokenCount).map { (token: $0, fingerprint: nil) }, by: client)
        try drain()
        try world.pass(1000)
    }

    /// Lets all that is on its way arrive.
    private mutating func drain() throws(World.Violation) {
        for _ in 0..<100 {
            var isQuiet = true
            for client in world.clients {
                for connection in client.connections {
                    if !connection.toServer.isEmpty || !connection.toClient.isEmpty || connection.ending != nil {
                        isQuiet = false
                    }
                    world.execute(.max, on: connection)
                    try world.deliver(.max, on: connection, to: client)
                }
            }
            if isQuiet { return }
        }
    }
}
