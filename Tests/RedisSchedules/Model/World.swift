internal import Basics
internal import MediaToken
internal import ReplayRedis

/// The servers and clients of one schedule, under a clock that only the schedule moves; and what must hold of them.
final class World {
    /// What must hold, and did not.
    struct Violation: Error {
        let description: String
    }

    static let timeout: Int64 = 250
    private static let start: Int64 = 1_800_000_000_000
    /// Adobe's clock is up to this far ahead, and the store's fences are put later by as much.
    private static let skew: Int64 = 2000
    private static let instant = ContinuousClock.now

    /// A token of the schedule, and the requests that were told that it is theirs.
    private struct Token {
        let key: ReplayKey
        let issued: Timestamp
        let until: Timestamp
        var owners: [Int] = []
        var firsts = 0
        /// The number of claims on it so far.
        var claims = 0
    }

    let configuration: RedisConfiguration
    private(set) var servers: [ModelServer] = []
    private(set) var clients: [ModelClient] = []
    private(set) var now = World.start
    /// A region that is cut off: a primary and a replica near it, if there is one, and the clients that reach these and
    /// no others.
    struct CutRegion {
        let primary: ModelServer
        let near: ModelServer?
        let clients: Set<Int>
    }
    private(set) var cutRegion: CutRegion?
    private var tokens: [Token] = []
    private var lastOwner = 0
    var journal: [String]?

    /// - Parameters:
    ///   - isDurable: whether the servers keep all that they acknowledge through a restart.
    ///   - replicas: the number of replicas that each primary has.
    ///   - waits: for how many replicas the claims of each client wait, as its URL says; `nil` if it says nothing.
    init(
        isCluster: Bool, isQuorum: Bool, isDurable: Bool, replicas: Int, waits: [Int?], clockOffsets: [Int64]
    ) {
        var configuration = RedisConfiguration(host: "host")
        configuration.port = 1
        configuration.isCluster = isCluster
        configuration.timeout = .milliseconds(Int(Self.timeout))
        configuration.clockSkew = .milliseconds(Self.skew)
        let count: Int32 = isQuorum ? 3 : isCluster ? 2 : 1
        configuration.isQuorum = isQuorum
        configuration.otherHosts = isQuorum ? (2...3).map { RedisConfiguration.Host(name: "host", port: $0) } : []
        self.configuration = configuration
        let primaries = (1...count).map { ModelServer(port: $0, isCluster: isCluster, isDurable: isDurable) }
        servers = primaries
        for copy in 0..<Int32(replicas) {
            for primary in primaries {
                let replica = ModelServer(
                    port: primary.port + count * (copy + 1), isCluster: isCluster, isDurable: isDurable)
                replica.follow(primary)
                servers.append(replica)
            }
        }
        if isCluster {
            for (number, slot) in slots.enumerated() { primaries[number % primaries.count].slots.insert(slot) }
        }
        clients = zip(clockOffsets, waits).map { offset, waits in
            configuration.replicas = waits
            return ModelClient(configuration, clockOffset: offset)
        }
    }

    func note(_ text: @autoclosure () -> String) {
        journal?.append("\(now - Self.start) ms: \(text())")
    }

    /// The slots of the shards that tokens fall into.
    var slots: [Int] { Self.shards.map { RedisShard(number: $0).slot } }

    private static let shards = [0x00, 0x42, 0x80, 0xC1]

    private func time(of client: ModelClient) -> Timestamp { Timestamp(milliseconds: now + client.clockOffset) }

    private func moment(_ client: ModelClient) -> RedisMoment {
        RedisMoment(
            instant: Self.instant + .milliseconds(now - Self.start),
            time: time(of: client))
    }

    // MARK: Claims

    var tokenCount: Int { tokens.count }

    func isAccepted(_ token: Int) -> Bool { tokens[token].firsts == 1 }

    /// Makes a token, issued by Adobe's clock now or a while ago.
    func makeToken(shard: Int, age: Int64) -> Int {
        let shard = UInt64(configuration.isCluster ? Self.shards[shard % Self.shards.count] : 0) << 56
        let number = UInt64(tokens.count + 1)
        let issued = Timestamp(milliseconds: now - age)
        tokens.append(
            Token(
                key: ReplayKey(words: (shard, number, number, number)), issued: issued,
                until: issued.advanced(byMilliseconds: 420_000)))
        return tokens.count - 1
    }

    /// Has a client claim tokens, each once or, by a fingerprint, as a retry of the same request.
    func claim(_ wanted: [(token: Int, fingerprint: Int?)], by client: ModelClient) throws(Violation) {
        var owners: [Int] = []
        let claims = wanted.map { wanted in
            lastOwner += 1
            tokens[wanted.token].claims += 1
            owners.append(wanted.fingerprint.map { -1 - $0 } ?? lastOwner)
            let token = tokens[wanted.token]
            let fingerprint = wanted.fingerprint.flatMap { try? RetryFingerprint(of: token.key, secret: [UInt8($0)]) }
            return ReplayClaim(
                key: token.key, issued: token.issued, until: token.until, fingerprint: fingerprint)
        }
        note("client \(number(client)) claims \(wanted.map { "\($0.token)\($0.fingerprint.map { "/\($0)" } ?? "")" })")
        let moment = moment(client)
        client.lastGroup += 1
        client.pending[client.lastGroup] = ModelClient.Pending(
            vote: QuorumVote(claims: claims.count, servers: client.members.count), claims: claims, owners: owners,
            since: now)
        for member in client.members.indices {
            let group = client.members[member].claim(claims, at: time(of: client), moment)
            client.groups[member][group] = client.lastGroup
        }
        try carryOut(for: client)
    }

    /// Has a client check the servers and set the markers that are missing.
    func open(by client: ModelClient) throws(Violation) {
        note("client \(number(client)) opens the store")
        for member in client.members.indices { _ = client.members[member].open(at: time(of: client), moment(client)) }
        try carryOut(for: client)
    }

    private func number(_ client: ModelClient) -> Int { clients.firstIndex { $0 === client } ?? -1 }

    private func record(_ answers: [Result<ReplayAnswer, ReplayStoreError>], to pending: ModelClient.Pending)
        throws(Violation)
    {
        guard answers.count == pending.claims.count else { throw Violation(description: "an answer is missing") }
        for ((claim, owner), answer) in zip(zip(pending.claims, pending.owners), answers) {
            let token = Int(claim.key.words.1) - 1
            note("token \(token): \(answer)")
            switch answer {
            case .success(.first): tokens[token].firsts += 1
            case .success(.repeated): break
            case .success(.alreadyUsed) where tokens[token].claims == 1:
                throw Violation(description: "token \(token) was called used to the only one who ever claimed it")
            default: continue
            }
            let isTwice = owner > 0 && tokens[token].owners.contains(owner)
            if !tokens[token].owners.contains(owner) { tokens[token].owners.append(owner) }
            guard tokens[token].firsts < 2, tokens[token].owners.count < 2, !isTwice else {
                throw Violation(description: "token \(token) was accepted twice")
            }
        }
    }

    // MARK: Actions

    /// Carries out what a client's rounds want.
    private func carryOut(for client: ModelClient) throws(Violation) {
        for member in client.members.indices { try carryOut(member, for: client) }
        client.connections.removeAll { $0.isAbandoned && ($0.toServer.isEmpty || !$0.server.isUp) }
    }

    private func carryOut(_ member: Int, for client: ModelClient) throws(Violation) {
        while let action = client.members[member].nextAction() {
            switch action {
            case .connect(let link):
                let server = server(at: link.address.port)
                let connection = ModelClient.Connection(link, of: member, to: server)
                if !server.isUp { connection.ending = .unavailable("\(link.address) cannot be reached") }
                client.connections.append(connection)
            case .send(let commands, let link):
                guard let connection = client.connections.first(where: { $0.link == link }) else {
                    throw Violation(description: "commands for a connection that there is not")
                }
                connection.toServer += commands
            case .close(let link):
                client.connections.first { $0.link == link }?.isAbandoned = true
            case .answer(let number, let answers):
                guard let group = client.groups[member].removeValue(forKey: number) else {
                    throw Violation(description: "a group was answered twice")
                }
                client.pending[group]?.vote.add(answers)
                guard let pending = client.pending[group], let answers = pending.vote.answers else { continue }
                client.pending[group] = nil
                guard now - pending.since <= Self.timeout else {
                    throw Violation(description: "a group was answered after its deadline")
                }
                try record(answers, to: pending)
            case .conclude: break
            }
        }
    }

    /// The server at a port. A replica that has taken over from a single server has its address.
    private func server(at port: Int32) -> ModelServer {
        let found = servers.first { $0.port == port }
        if !configuration.isCluster, !configuration.isQuorum,
            let promoted = servers.first(where: { $0.isUp && $0.primary == nil })
        {
            return promoted
        }
        return found ?? servers[0]
    }

    /// Starts what has died as a replica, and brings all replicas in step with their primaries.
    func renewReplicas() {
        heal()
        for server in servers where server.past != nil { learn(server) }
        let primaries = servers.filter { $0.isUp && $0.primary == nil }
        let others = servers.filter { !$0.isUp || $0.primary != nil }
        for primary in primaries { primary.followers = [] }
        for (number, other) in others.enumerated() {
            if !other.isUp { other.restart(restoresSnapshot: false) }
            other.followers = []
            other.follow(primaries[number % primaries.count])
        }
    }

    // MARK: Regions

    /// Cuts a primary off, with some clients and with its first replica if `isNear`.
    func cutOff(_ primary: ModelServer, isNear: Bool, clients: Set<Int>) {
        for place in primary.followers.indices { primary.followers[place].isCutOff = !(isNear && place == 0) }
        cutRegion = CutRegion(
            primary: primary, near: isNear ? primary.followers.first?.server : nil, clients: clients)
        note(
            "server \(primary.port) is cut off\(isNear ? " with a replica" : ""), and with it clients \(clients.sorted())"
        )
    }

    /// Ends the cut. The primary that was cut off learns what happened meanwhile.
    func heal() {
        guard let region = cutRegion else { return }
        cutRegion = nil
        note("server \(region.primary.port) is not cut off any more")
        for place in region.primary.followers.indices { region.primary.followers[place].isCutOff = false }
        if region.primary.past != nil { learn(region.primary) }
    }

    /// Has a server learn that another has taken over from it, which it and its replicas then follow.
    func learn(_ server: ModelServer) {
        guard server.past != nil, var owner = server.successor else { return }
        // A primary that another one has replaced meanwhile is followed by nobody: the nodes tell of the last one.
        while !owner.isUp || owner.primary != nil || owner.past != nil, let next = owner.primary ?? owner.successor {
            owner = next
        }
        note("server \(server.port) learns that \(owner.port) has taken over")
        let followers = server.followers
        server.followers = []
        server.isHung = false
        for late in [server] + followers.map(\.server) { late.follow(owner) }
    }

    private func isReachable(_ server: ModelServer, by client: Int) -> Bool {
        guard let region = cutRegion else { return true }
        return region.clients.contains(client) == (server === region.primary || server === region.near)
    }

    // MARK: The network

    /// Has a server carry out the next commands of a connection.
    func execute(_ count: Int, on connection: ModelClient.Connection) {
        let server = connection.server
        let client = clients.firstIndex { $0.connections.contains { $0 === connection } } ?? -1
        guard server.isUp, !server.isHung, connection.ending == nil, isReachable(server, by: client) else { return }
        for command in connection.toServer.prefix(count) {
            let reply: RedisReply
            if command == ["CLUSTER", "SLOTS"] {
                reply = slots(knownTo: server)
            } else {
                let owner = { (slot: Int) in self.servers.first { $0.slots.contains(slot) }?.port ?? 1 }
                reply = server.reply(to: command, isAsking: connection.isAsking, at: now, owner: owner)
            }
            connection.isAsking = command == ["ASKING"]
            if ["GET", "SET", "EVAL"].contains(command[0]) {
                let words = command[0] == "EVAL" ? ["script"] + command[3...] : command
                note("server \(server.port): \(words.joined(separator: " ")) gives \(Self.text(of: reply))")
            }
            if !connection.isAbandoned { connection.toClient.append(reply) }
        }
        connection.toServer.removeFirst(min(count, connection.toServer.count))
    }

    private static func text(of reply: RedisReply) -> String {
        if case .error(let error) = reply { error.line } else { reply.text ?? "\(reply)" }
    }

    private func slots(knownTo asked: ModelServer) -> RedisReply {
        let past = asked.past?.slots ?? []
        return .array(
            servers.filter { $0.isUp }.flatMap { server in
                (server === asked ? past.union(server.slots) : server.slots.subtracting(past)).sorted().map { slot in
                    .array([
                        .integer(Int64(slot)), .integer(Int64(slot)),
                        .array([.text("host"), .integer(Int64(server.port))]),
                    ])
                }
            })
    }

    /// Lets a client read the next replies of a connection, or see that it has ended.
    func deliver(_ count: Int, on connection: ModelClient.Connection, to client: ModelClient) throws(Violation) {
        guard !connection.isAbandoned else { return }
        if connection.toClient.isEmpty {
            guard let ending = connection.ending else { return }
            note("client \(number(client)) sees the end of its connection to \(connection.server.port)")
            client.connections.removeAll { $0 === connection }
            client.members[connection.member].ended(connection.link, ending, moment(client))
        } else {
            let replies = Array(connection.toClient.prefix(count))
            connection.toClient.removeFirst(replies.count)
            client.members[connection.member].received(replies, on: connection.link, moment(client))
        }
        try carryOut(for: client)
    }

    /// Breaks a connection. What was sent is carried out later, or lost.
    func cut(_ connection: ModelClient.Connection, of client: ModelClient, losesCommands: Bool) {
        note("the connection of client \(number(client)) to \(connection.server.port) breaks")
        if !losesCommands {
            // The commands are carried out on a connection whose replies nobody reads.
            let rest = ModelClient.Connection(connection.link, of: connection.member, to: connection.server)
            (rest.toServer, rest.isAsking, rest.isAbandoned) = (connection.toServer, connection.isAsking, true)
            client.connections.append(rest)
        }
        connection.toServer = []
        connection.ending = .unavailable("\(connection.link.address) closed the connection")
    }

    /// Ends all connections to a server that has died.
    func loseConnections(to server: ModelServer) {
        for client in clients {
            for connection in client.connections where connection.server === server && !connection.isAbandoned {
                cut(connection, of: client, losesCommands: true)
            }
            client.connections.removeAll { $0.server === server && $0.isAbandoned }
        }
    }

    // MARK: Time

    /// Lets time pass, with every alarm on its way.
    func pass(_ milliseconds: Int64) throws(Violation) {
        let end = now + milliseconds
        while true {
            let alarms = clients.flatMap(\.members).compactMap(\.alarm).map {
                Self.start + ($0 - Self.instant).clampedMilliseconds
            }
            guard let next = alarms.min(), next <= end else { break }
            now = max(now, next)
            for client in clients {
                for member in client.members.indices where client.members[member].alarm != nil {
                    client.members[member].elapsed(moment(client))
                }
                try carryOut(for: client)
            }
        }
        now = end
        for client in clients where client.pending.values.contains(where: { now - $0.since > Self.timeout }) {
            throw Violation(description: "a group was not answered by its deadline")
        }
    }
}
