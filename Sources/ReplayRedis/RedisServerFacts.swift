internal import MediaToken

/// What a server tells about itself, once for each connection.
struct RedisServerFacts {
    /// Names this run of this server: another run may have another memory.
    let runID: String
    /// Names this node of a cluster through all its runs; empty for a single server.
    let nodeID: String
    /// Whether all that a run has acknowledged is there in the next.
    ///
    /// With `appendonly yes` alone it is not: under `appendfsync everysec` Redis answers before it has written, for up to two
    /// seconds while a sync is under way, so that even a killed process, let alone a crashed machine, loses claims.
    let keepsThroughRestart: Bool
    /// Why claims must not go there; `nil` where they may.
    let problem: String?

    /// Reads the replies to ``commands(_:)``; `nil` where they are not Redis'.
    init?(_ replies: some Sequence<RedisReply>) {
        let replies = Array(replies)
        guard let info = replies.first?.text else { return nil }
        var fields: [Substring: Substring] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let runID = fields["run_id"], let version = fields["redis_version"] else { return nil }
        self.runID = String(runID)
        nodeID = replies.count > 2 ? replies[2].text ?? "" : ""
        // A user that may not ask for it gets an error, which counts as no.
        let syncs = replies.count > 1 ? replies[1].array?.last?.text : nil
        keepsThroughRestart = fields["aof_enabled"] == "1" && syncs == "always"
        problem = Self.problem(version: version, fields)
    }

    /// The commands that ask for all this.
    static func commands(_ configuration: RedisConfiguration) -> [RedisCommand] {
        [["INFO"], ["CONFIG", "GET", "appendfsync"]] + (configuration.isCluster ? [["CLUSTER", "MYID"]] : [])
    }

    private static func problem(version: Substring, _ fields: [Substring: Substring]) -> String? {
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 else {
            return "is version \(printable(String(version))); expected Redis 7.0 or newer, or Valkey"
        }
        guard fields["loading"] != "1" else { return "is loading its data; it serves once it has" }
        let policy = fields["maxmemory_policy"] ?? "unknown"
        guard fields["maxmemory"] == "0" || policy == "noeviction" else {
            return "evicts live keys to make room (maxmemory-policy \(printable(String(policy)))); set it to noeviction"
        }
        return nil
    }
}
