internal import Basics

/// What a server reports about itself. It is read again in each round of claims.
///
/// A marker vouches for its keys only while these facts are as they were when the marker was set. Each round asks for
/// them after its claims and its markers, on the same connection, so a loss before a claim shows in the round of that
/// claim.
struct RedisServerFacts {
    /// The name of this run of this server: another run may have another memory.
    let runID: String
    /// Counts of this run that change when keys are lost or replaced; `nil` if they may have been set back since they
    /// were last read, and this round did not ask for the trace of that.
    let losses: RedisLosses?
    /// Whether the server appends to its file (`appendonly`).
    let appends: Bool
    /// Whether all that this run acknowledges will be there in the next run.
    ///
    /// `appendonly yes` alone is not enough: under `appendfsync everysec` Redis answers before it has written, for up
    /// to two seconds while a sync is under way, so that even a killed process, let alone a crashed machine, loses
    /// claims. Nor does a run that may evict claims keep them.
    let keepsThroughRestart: Bool
    /// Whether this run began with all that the run before it wrote, rather than with a snapshot or nothing. Turning
    /// `appendonly` on later rewrites the file.
    let beganWithAll: Bool
    /// Whether the operator's statement `durable=server` holds for this server: it lets nobody read the settings that
    /// would decide otherwise.
    let isStatedDurable: Bool
    let replication: RedisReplication
    /// The server's place in a quorum, by the URL; `nil` for a server on its own.
    let quorum: RedisQuorumSeat?
    /// Why the server cannot serve this store, so that nothing may be written to it; `nil` if it can.
    let misfit: String?
    /// Why the server may drop live keys to make room; `nil` if it never does.
    let eviction: String?
    /// The earliest fence that holds for this run, because its counts were seen to have been set back; `nil` if they
    /// were not.
    ///
    /// The trace alone is not enough: two resets may leave the same one.
    private(set) var leastFence: Timestamp?
    /// The number of commands that this run has carried out. It only grows, unless `CONFIG RESETSTAT` sets it back.
    private let processed: Int
    private let askedAt: Instant

    typealias Instant = ContinuousClock.Instant

    /// Why no claim may be accepted on the server; `nil` if claims may be.
    var problem: String? { misfit ?? eviction }

    private static let settings = ["CONFIG", "GET", "appendfsync", "no-appendfsync-on-rewrite", "cluster-node-timeout"]
    /// The command whose reply has the trace of a `CONFIG RESETSTAT`.
    private static let trace = ["INFO", "commandstats"]

    /// The commands that ask for all facts. The second may be denied.
    static func commands(_ configuration: RedisConfiguration) -> [RedisCommand] {
        [["INFO", "server", "memory", "stats", "persistence", "cluster", "replication"]] + rest(configuration)
    }

    /// The commands that ask for all facts in a form that a server which is too old for this store understands too.
    static func greeting(_ configuration: RedisConfiguration) -> [RedisCommand] { [["INFO"]] + rest(configuration) }

    private static func rest(_ configuration: RedisConfiguration) -> [RedisCommand] {
        [settings] + (configuration.isCluster ? [RedisReplication.count] : []) + [trace]
    }

    /// More commands than a server can carry out in a millisecond.
    private static let mostProcessedInAMillisecond = 10_000

    /// Returns the commands that read the server's facts again. They leave out the trace, which costs as much as all
    /// other facts, if a `CONFIG RESETSTAT` would show in the count of commands. If the reply comes too late for that,
    /// the group looks at the marker with the trace.
    func commandsAgain(at now: Instant, _ configuration: RedisConfiguration) -> [RedisCommand] {
        let all = Self.commands(configuration)
        return wouldFall(by: now, plusMilliseconds: 50) ? all.dropLast() : all
    }

    /// Whether the count of commands must be lower than it was if it was set back since: the server cannot have carried
    /// out so many commands again in the time that has passed.
    private func wouldFall(by now: Instant, plusMilliseconds more: Int64) -> Bool {
        let span = (now - askedAt).clampedMilliseconds + more
        return processed / Self.mostProcessedInAMillisecond > span
    }

    /// Reads the replies to ``commands``, with the trace or without; `nil` if Redis would not reply so.
    ///
    /// - Parameters:
    ///   - askedAt: a time before the commands were sent.
    ///   - moment: when the replies came.
    ///   - last: the facts that the server reported before.
    init?(
        _ replies: ArraySlice<RedisReply>, askedAt: Instant, at moment: RedisMoment, after last: RedisServerFacts?,
        _ configuration: RedisConfiguration
    ) {
        guard let text = replies.first?.text else { return nil }
        let info = RedisInfo(text)
        guard let runID = info["run_id"] else { return nil }
        self.runID = runID
        var rest = replies.dropFirst()
        let settings = Self.settings(rest.popFirst())
        isStatedDurable = configuration.assumesDurability && settings["appendfsync"] == nil
        quorum = configuration.quorum.map { RedisQuorumSeat(configuration.hosts[0], of: $0) }
        misfit = Self.misfit(info, configuration)
        eviction = Self.eviction(info, configuration)
        appends = isStatedDurable || info["aof_enabled"] == "1"
        keepsThroughRestart =
            eviction == nil && appends
            && (isStatedDurable
                || settings["appendfsync"] == "always" && settings["no-appendfsync-on-rewrite"] == "no")
        beganWithAll = isStatedDurable || info["aof_rewrites"] == "0" && info["aof_rewrite_in_progress"] == "0"
        let connected = info["connected_slaves"].flatMap(Int.init)
        let replicas: Int?
        if configuration.isCluster {
            // A replica may be connected before the table has it.
            replicas = if case .integer(let count)? = rest.popFirst() { max(Int(count), connected ?? 0) } else { nil }
        } else {
            replicas = connected
        }
        replication = RedisReplication(
            replicas, nodeTimeout: settings["cluster-node-timeout"].flatMap(Int.init), isStatedDurable: isStatedDurable,
            configuration)
        let processed = info["total_commands_processed"].flatMap(Int.init) ?? 0
        (self.processed, self.askedAt) = (processed, askedAt)
        let last = last?.runID == runID ? last : nil
        // The last question was a command too, so the count has grown. A server that does not report it has the trace
        // alone.
        let hasFallen = last.map { processed > 0 && processed <= $0.processed } ?? false
        let time =
            info["server_time_usec"].flatMap(Int64.init).map { Timestamp(milliseconds: $0 / 1000) } ?? moment.time
        leastFence =
            hasFallen
            ? time.advanced(byMilliseconds: configuration.clockSkew.clampedMilliseconds) : last?.leastFence
        let reset: String?
        if let trace = rest.first {
            reset = RedisLosses.reset(trace)
        } else if let last, last.wouldFall(by: moment.instant, plusMilliseconds: 0), !hasFallen {
            reset = last.losses?.reset
        } else {
            reset = nil
        }
        losses = reset.map { RedisLosses(info, reset: $0) }
    }

    /// Reads the reply to `CONFIG GET`: name, value, name, value. It is empty if the server denies the command.
    static func settings(_ reply: RedisReply?) -> [String: String] {
        let words = reply?.array?.compactMap(\.text) ?? []
        let pairs = stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Adds what was seen of the same run on another connection meanwhile.
    mutating func join(_ other: RedisServerFacts) {
        guard other.runID == runID, let fence = other.leastFence else { return }
        leastFence = max(fence, leastFence ?? fence)
    }

    /// Whether the server was asked for these facts before it was asked for others.
    func isOlder(than other: RedisServerFacts) -> Bool { askedAt < other.askedAt }

    private static func misfit(_ info: RedisInfo, _ configuration: RedisConfiguration) -> String? {
        let version = info["redis_version"] ?? "unknown"
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 else {
            return "is version \(printable(version)); expected Redis 7.0 or newer, or Valkey"
        }
        guard info["loading"] != "1" else { return "is loading its data; it serves once it has" }
        guard !configuration.isCluster else { return nil }
        // Its keys would have other names, and so be a second store.
        guard info["cluster_enabled"] != "1" else { return "is a node of a cluster; add ?cluster=true to its URL" }
        // What is written to a replica is lost when it next copies its primary. In a cluster a replica redirects
        // instead.
        return info["role"] == "slave" ? "is a replica: name the primary" : nil
    }

    private static func eviction(_ info: RedisInfo, _ configuration: RedisConfiguration) -> String? {
        let policy = info["maxmemory_policy"]
        if let policy, policy != "noeviction" {
            return "evicts live keys to make room (maxmemory-policy \(printable(policy))); set it to noeviction"
        }
        guard configuration.assumesNoEviction || policy != nil && info["evicted_keys"] != nil else {
            return "does not report whether it evicts keys (maxmemory_policy and evicted_keys of INFO); "
                + "if it never does, add eviction=none to its URL"
        }
        return nil
    }
}

/// Counts of one run of a server that change when keys on it are lost or replaced. A marker records them.
///
/// They are compared for equality: `CONFIG RESETSTAT` sets them back.
struct RedisLosses: Equatable {
    /// Keys that were evicted.
    let evicted: String
    /// Bytes that came from a primary. While a server is a replica, the primary's keys replace its own.
    let received: String
    /// Identifies the last `CONFIG RESETSTAT` of the run; `-` if there was none.
    let reset: String

    /// Stands for a count that the server does not report.
    private static let untold = "?"

    init(_ info: RedisInfo, reset: String) {
        evicted = info["evicted_keys"] ?? Self.untold
        received = info["total_net_repl_input_bytes"] ?? Self.untold
        self.reset = reset
    }

    /// Reads a word of a marker.
    init?(_ word: Substring) {
        let parts = word.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        (evicted, received, reset) = (parts[0], parts[1], parts[2])
    }

    var text: String { "\(evicted),\(received),\(reset)" }

    /// Whether this run has followed a primary.
    var hasFollowed: Bool { received != "0" && received != Self.untold }

    /// Whether this run has evicted nothing since it began, as far as the server reports it.
    var isWithoutEviction: Bool {
        (evicted == "0" || evicted == Self.untold) && (reset == "-" || reset == Self.untold)
    }

    /// Reads ``reset`` from the reply to `INFO commandstats`: the microseconds that the last `CONFIG RESETSTAT` took.
    /// That command sets all counts back, and is then the first one to be counted.
    static func reset(_ reply: RedisReply) -> String {
        guard let text = reply.text else { return untold }
        let counts = RedisInfo(text)["cmdstat_config|resetstat"]?.split(separator: ",") ?? []
        // A call that was denied has a line too, but changed nothing.
        guard counts.count > 1, counts[0] != "calls=0" else { return "-" }
        return String(counts[1].drop { $0 != "=" }.dropFirst())
    }
}
