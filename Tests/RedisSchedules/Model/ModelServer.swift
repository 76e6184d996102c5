internal import ReplayRedis

/// A Redis server, as far as a replay store can tell: its keys, its counts, what a restart leaves of them, and the
/// writes that its replicas have not got yet.
final class ModelServer {
    struct Entry {
        var value: String
        /// Milliseconds since 1970; `nil` for a key that does not expire.
        var expiry: Int64?
    }

    let port: Int32
    let isCluster: Bool
    /// Whether it appends to its file, and syncs, before it answers.
    let isDurable: Bool
    var keys: [String: Entry] = [:]
    var snapshot: [String: Entry] = [:]
    var isUp = true
    var isHung = false
    var clockOffset: Int64 = 0
    var policy = "noeviction"

    private(set) var run = 1
    private var processed = 0
    private(set) var evicted = 0
    /// Whether this run has dropped a key to make room, or has copied a primary.
    private(set) var hasLost = false
    /// Whether it has dropped a key, in whatever run, and its replicas have not had all that it wrote since a marker
    /// was told of that.
    private var hasDroppedUnseen = false
    /// Bytes that came from a primary in this run.
    private var received = 0
    /// How long the last reset of the counts took; `nil` if there was none.
    private var reset: Int?

    /// A replica, and the writes that it has not got.
    struct Follower {
        let server: ModelServer
        var unsent: [(key: String, entry: Entry?)] = []
        /// Whether it gets writes only when it is told to, and not before a `WAIT` is answered.
        var isSlow = false
        /// Whether it gets no writes at all.
        var isCutOff = false
    }

    /// The server that it copies; `nil` for a primary.
    weak var primary: ModelServer?
    var followers: [Follower] = []
    /// What the server goes by that has not learned yet that a replica has taken over: its slots, and how many replicas
    /// it had.
    struct Past {
        let slots: Set<Int>
        /// The ports of the replicas that its table of nodes has, beside those that follow it now.
        let replicas: Set<Int32>
        /// The time at which it stops, because it sees no majority; `nil` for one that was paused and will see it at
        /// once.
        let stops: Int64?
    }
    var past: Past?
    /// The server that took over from it.
    private(set) weak var successor: ModelServer?

    /// The slots that it owns, those that it is moving away (by the port of the server that gets them), and those that
    /// it is getting.
    var slots: Set<Int> = []
    var migrating: [Int: Int32] = [:]
    var importing: Set<Int> = []

    init(port: Int32, isCluster: Bool, isDurable: Bool) {
        self.port = port
        self.isCluster = isCluster
        self.isDurable = isDurable
    }

    // MARK: Faults

    /// Ends the server and starts it again.
    ///
    /// - Parameter restoresSnapshot: whether a server that is not durable starts with its last snapshot, or with
    ///   nothing.
    func restart(restoresSnapshot: Bool) {
        run += 1
        if !isDurable { keys = restoresSnapshot ? snapshot : [:] }
        (processed, evicted, received, reset, hasLost) = (0, 0, 0, nil, false)
        (isUp, isHung) = (true, false)
        if !isDurable { copyToReplicas() }
    }

    func flush() {
        keys = [:]
        copyToReplicas()
    }

    /// Drops a key to make room.
    func evict(_ key: String) {
        keys[key] = nil
        pass(on: key, nil)
        evicted += 1
        (hasLost, hasDroppedUnseen) = (true, true)
    }

    /// Whether its clock is so far ahead that it forgets keys too early.
    var isFarAhead: Bool { clockOffset > 300_000 }

    /// Whether it may lack keys, because it dropped them, copied a primary's or forgot them too early, and a marker on
    /// it was not told of that.
    var hidesLoss: Bool {
        let told = ["\(port)-\(run)", "\(evicted),\(received),\(reset.map { "\($0)" } ?? "-")"]
        return isFarAhead
            || hasLost
                && keys.contains { key, entry in
                    key.hasSuffix("since") && (!isCluster || slots.contains(Self.slot(of: key)))
                        && !told.allSatisfy(entry.value.split(separator: " ").map(String.init).contains)
                }
    }

    /// Whether it has dropped keys, and a replica may not have got the marker that records that.
    var hidesLossFromReplica: Bool {
        hidesLoss || (hasLost || hasDroppedUnseen) && followers.contains { !$0.unsent.isEmpty }
    }

    func resetCounts(microseconds: Int) {
        (processed, evicted, received, reset) = (0, 0, 0, microseconds)
    }

    /// Takes over from its primary, with the writes that it has got. The other replicas that are not cut off from it
    /// follow it from now on.
    ///
    /// - Parameter past: what the old primary goes by if it has not died.
    func promote(leaving past: (ModelServer) -> Past? = { _ in nil }) {
        guard let old = primary else { return }
        let isCutOff = old.followers.first { $0.server === self }?.isCutOff == true
        let others = old.followers.filter { $0.server !== self && $0.isCutOff == isCutOff }
        primary = nil
        old.successor = self
        old.past = past(old)
        old.isUp = old.past != nil
        old.followers.removeAll { follower in
            follower.server === self || others.contains { $0.server === follower.server }
        }
        slots = old.slots
        old.slots = []
        for other in others { other.server.follow(self) }
    }

    /// The ports of its replicas.
    var replicas: Set<Int32> { Set(followers.map(\.server.port)) }

    /// Gives the replicas the oldest of the writes that they lack.
    func replicate(_ count: Int) {
        for place in followers.indices where !followers[place].isCutOff { replicate(count, to: place) }
    }

    private func replicate(_ count: Int, to place: Int) {
        let count = min(count, followers[place].unsent.count)
        for (key, entry) in followers[place].unsent.prefix(count) { followers[place].server.keys[key] = entry }
        followers[place].unsent.removeFirst(count)
        followers[place].server.received += 10 * count
        if followers.allSatisfy(\.unsent.isEmpty), !hidesLoss { hasDroppedUnseen = false }
    }

    /// Follows a primary from now on.
    func follow(_ primary: ModelServer) {
        (self.primary, past, slots) = (primary, nil, [])
        primary.followers.append(Follower(server: self))
        primary.copy(to: primary.followers.count - 1)
    }

    func loseReplicas() {
        for follower in followers { (follower.server.primary, follower.server.isUp) = (nil, false) }
        followers = []
    }

    func copyToReplicas() {
        for place in followers.indices where !followers[place].isCutOff { copy(to: place) }
    }

    private func copy(to place: Int) {
        let replica = followers[place].server
        replica.keys = keys
        replica.received += 1000
        replica.hasLost = true
        followers[place].unsent = []
    }

    private func pass(on key: String, _ entry: Entry?) {
        for place in followers.indices { followers[place].unsent.append((key, entry)) }
    }

    /// Moves a key to another server, as `MIGRATE` does.
    func move(_ key: String, to other: ModelServer) {
        guard let entry = keys.removeValue(forKey: key) else { return }
        pass(on: key, nil)
        other.write(key, entry)
    }

    private func write(_ key: String, _ entry: Entry) {
        keys[key] = entry
        pass(on: key, entry)
    }

    // MARK: Commands

    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - isAsking: whether the command before it on the connection was `ASKING`.
    ///   - now: the true time.
    ///   - owner: the port of the server that owns a slot.
    func reply(to command: RedisCommand, isAsking: Bool, at now: Int64, owner: (Int) -> Int32) -> RedisReply {
        processed += 1
        let time = now + clockOffset
        let isCount = command[0] == "EVAL" && command[2] == "0"
        if let stops = past?.stops, stops <= now, ["SET", "GET", "EVAL"].contains(command[0]), !isCount {
            return .error(RedisErrorReply(line: "CLUSTERDOWN The cluster is down"))
        }
        switch command[0] {
        case "INFO": return .text(command.last == "commandstats" ? trace : info(time))
        case "CONFIG":
            let sync = ["appendfsync", isDurable ? "always" : "everysec", "no-appendfsync-on-rewrite", "no"]
            return .array((sync + ["cluster-node-timeout", String(Self.nodeTimeout)]).map { .text($0) })
        case "EVAL" where isCount: return .integer(Int64((past?.replicas ?? []).union(replicas).count))
        case "TIME": return .array([.text(String(time / 1000)), .text(String(time % 1000 * 1000))])
        case "ASKING", "SELECT": return .text("OK")
        case "WAIT":
            for place in followers.indices where !followers[place].isSlow && !followers[place].isCutOff {
                replicate(.max, to: place)
            }
            return .integer(Int64(followers.count { $0.unsent.isEmpty && !$0.isCutOff }))
        case "GET", "SET", "EVAL":
            let key = command[0] == "EVAL" ? command[3] : command[1]
            if isCluster, let elsewhere = redirection(key, isAsking, time, owner) { return elsewhere }
            return switch command[0] {
            case "GET": get(command[1], time)
            case "SET": set(command, time)
            default: replace(command, time)
            }
        default: return .error(RedisErrorReply(line: "ERR unknown command"))
        }
    }

    private func redirection(
        _ key: String, _ isAsking: Bool, _ time: Int64, _ owner: (Int) -> Int32
    ) -> RedisReply? {
        let slot = Self.slot(of: key)
        if (past?.slots ?? slots).contains(slot), primary == nil {
            guard let target = migrating[slot], live(key, time) == nil else { return nil }
            return .error(RedisErrorReply(line: "ASK \(slot) host:\(target)"))
        }
        if isAsking, importing.contains(slot) { return nil }
        return .error(RedisErrorReply(line: "MOVED \(slot) host:\(owner(slot))"))
    }

    static let nodeTimeout: Int64 = 4000

    /// The slot of a key of the store.
    static func slot(of key: String) -> Int {
        let tag = key.drop { $0 != "{" }.dropFirst().prefix(2)
        return RedisShard(number: Int(tag, radix: 16) ?? 0).slot
    }

    private func live(_ key: String, _ time: Int64) -> Entry? {
        guard let entry = keys[key] else { return nil }
        if let expiry = entry.expiry, expiry <= time {
            keys[key] = nil
            return nil
        }
        return entry
    }

    private func get(_ key: String, _ time: Int64) -> RedisReply {
        live(key, time).map { .text($0.value) } ?? .null
    }

    private func set(_ command: RedisCommand, _ time: Int64) -> RedisReply {
        guard primary == nil else { return .error(RedisErrorReply(line: "READONLY You can't write")) }
        let (key, value, options) = (command[1], command[2], command.dropFirst(3))
        let before = live(key, time)
        var expiry: Int64?
        if let place = options.firstIndex(of: "PXAT") { expiry = Int64(command[place + 1]) }
        let isWritten = before == nil
        if isWritten { write(key, Entry(value: value, expiry: expiry)) }
        if options.contains("GET") { return before.map { .text($0.value) } ?? .null }
        return isWritten ? .text("OK") : .null
    }

    /// The script that replaces a marker.
    private func replace(_ command: RedisCommand, _ time: Int64) -> RedisReply {
        guard primary == nil else { return .error(RedisErrorReply(line: "READONLY You can't write")) }
        let (key, old) = (command[3], command[4])
        var since = Int64(command[5]) ?? 0
        guard live(key, time)?.value ?? "" == old else { return .text("changed") }
        if old.isEmpty { since += max(0, time - (Int64(command[7]) ?? 0)) }
        let marker = "\(since) \(command[6])"
        write(key, Entry(value: marker, expiry: nil))
        return .text(marker)
    }

    private func info(_ time: Int64) -> String {
        """
        redis_version:7.2.4\r\nrun_id:\(port)-\(run)\r\nmaxmemory_policy:\(policy)\r\nevicted_keys:\(evicted)\r
        total_net_repl_input_bytes:\(received)\r\naof_enabled:\(isDurable ? 1 : 0)\r\naof_rewrites:0\r
        aof_rewrite_in_progress:0\r\ntotal_commands_processed:\(processed)\r\nserver_time_usec:\(time * 1000)\r
        connected_slaves:\(followers.count { !$0.isCutOff })\r
        role:\(primary == nil ? "master" : "slave")\r\nloading:0\r\ncluster_enabled:\(isCluster ? 1 : 0)\r\n
        """
    }

    private var trace: String {
        reset.map { "cmdstat_config|resetstat:calls=1,usec=\($0),usec_per_call=1.00\r\n" } ?? ""
    }
}
