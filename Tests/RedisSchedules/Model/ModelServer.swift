internal import ReplayRedis

/// A Redis server, as far as a replay store can tell: its keys, its counts, what a restart leaves of them, and the writes
/// that its replica has not got yet.
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
    /// Bytes that came from a primary in this run.
    private var received = 0
    /// How long the last reset of the counts took; `nil` if there was none.
    private var reset: Int?

    /// The server that it copies; `nil` for a primary.
    weak var primary: ModelServer?
    /// Its replica, and the writes that the replica has not got.
    private(set) var replica: ModelServer?
    /// Whether the replica gets writes only when it is told to, and not before a `WAIT` is answered.
    var isReplicaSlow = false
    private var unsent: [(key: String, entry: Entry?)] = []

    /// The slots that it owns, those that it is moving away (by the port of the server that gets them), and those that it
    /// is getting.
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
    /// - Parameter restoresSnapshot: whether a server that is not durable starts with its last snapshot, or with nothing.
    func restart(restoresSnapshot: Bool) {
        run += 1
        if !isDurable { keys = restoresSnapshot ? snapshot : [:] }
        (processed, evicted, received, reset, hasLost) = (0, 0, 0, nil, false)
        (isUp, isHung) = (true, false)
        if !isDurable { copyToReplica() }
    }

    func flush() {
        keys = [:]
        copyToReplica()
    }

    /// Drops a key to make room.
    func evict(_ key: String) {
        keys[key] = nil
        unsent.append((key, nil))
        evicted += 1
        hasLost = true
    }

    /// Whether its clock is so far ahead that it forgets keys too early.
    var isFarAhead: Bool { clockOffset > 300_000 }

    /// Whether it may lack keys, because it dropped them, copied a primary's or forgot them too early, and a marker on it
    /// was not told of that.
    var hidesLoss: Bool {
        let told = ["\(port)-\(run)", "\(evicted),\(received),\(reset.map { "\($0)" } ?? "-")"]
        return isFarAhead
            || hasLost
                && keys.contains { key, entry in
                    key.hasSuffix("since") && (!isCluster || slots.contains(Self.slot(of: key)))
                        && !told.allSatisfy(entry.value.split(separator: " ").map(String.init).contains)
                }
    }

    /// Whether it has dropped keys, and its replica may not have got the marker that records that.
    var hidesLossFromReplica: Bool { hidesLoss || hasLost && !unsent.isEmpty }

    func resetCounts(microseconds: Int) {
        (processed, evicted, received, reset) = (0, 0, 0, microseconds)
    }

    /// Takes over from its primary, with the writes that it has got.
    func promote() {
        guard let old = primary else { return }
        primary = nil
        old.isUp = false
        old.replica = nil
        slots = old.slots
        old.slots = []
    }

    /// Gives the replica the oldest of the writes that it lacks.
    func replicate(_ count: Int) {
        guard let replica else { return unsent.removeAll() }
        for (key, entry) in unsent.prefix(count) { replica.keys[key] = entry }
        unsent.removeFirst(min(count, unsent.count))
        replica.received += 10 * count
    }

    /// Follows a primary from now on.
    func follow(_ primary: ModelServer) {
        self.primary = primary
        primary.replica = self
        primary.copyToReplica()
    }

    func loseReplica() {
        replica?.primary = nil
        replica?.isUp = false
        replica = nil
    }

    func copyToReplica() {
        replica?.keys = keys
        replica?.received += 1000
        replica?.hasLost = true
        unsent = []
    }

    /// Moves a key to another server, as `MIGRATE` does.
    func move(_ key: String, to other: ModelServer) {
        guard let entry = keys.removeValue(forKey: key) else { return }
        unsent.append((key, nil))
        other.write(key, entry)
    }

    private func write(_ key: String, _ entry: Entry) {
        keys[key] = entry
        if replica != nil { unsent.append((key, entry)) }
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
        switch command[0] {
        case "INFO": return .text(command.last == "commandstats" ? trace : info(time))
        case "CONFIG":
            return .array(
                ["appendfsync", isDurable ? "always" : "everysec", "no-appendfsync-on-rewrite", "no"].map { .text($0) })
        case "TIME": return .array([.text(String(time / 1000)), .text(String(time % 1000 * 1000))])
        case "ASKING", "SELECT": return .text("OK")
        case "WAIT":
            if !isReplicaSlow { replicate(unsent.count) }
            return .integer(replica != nil && unsent.isEmpty ? 1 : 0)
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
        if slots.contains(slot), primary == nil {
            guard let target = migrating[slot], live(key, time) == nil else { return nil }
            return .error(RedisErrorReply(line: "ASK \(slot) host:\(target)"))
        }
        if isAsking, importing.contains(slot) { return nil }
        return .error(RedisErrorReply(line: "MOVED \(slot) host:\(owner(slot))"))
    }

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
        write(key, Entry(value: "\(since) \(command[6])", expiry: nil))
        return .text("OK")
    }

    private func info(_ time: Int64) -> String {
        """
        redis_version:7.2.4\r\nrun_id:\(port)-\(run)\r\nmaxmemory_policy:\(policy)\r\nevicted_keys:\(evicted)\r
        total_net_repl_input_bytes:\(received)\r\naof_enabled:\(isDurable ? 1 : 0)\r\naof_rewrites:0\r
        aof_rewrite_in_progress:0\r\ntotal_commands_processed:\(processed)\r\nserver_time_usec:\(time * 1000)\r
        role:\(primary == nil ? "master" : "slave")\r\nloading:0\r\ncluster_enabled:\(isCluster ? 1 : 0)\r\n
        """
    }

    private var trace: String {
        reset.map { "cmdstat_config|resetstat:calls=1,usec=\($0),usec_per_call=1.00\r\n" } ?? ""
    }
}
