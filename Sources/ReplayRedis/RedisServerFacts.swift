internal import MediaToken

/// What a server tells about itself, once for each connection.
struct RedisServerFacts {
    /// Names this run of this server: another run may have another memory.
    let runID: String
    /// Whether all that this run acknowledges will be there in the next.
    ///
    /// `appendonly yes` alone is not enough: under `appendfsync everysec` Redis answers before it has written, for up to two
    /// seconds while a sync is under way, so that even a killed process, let alone a crashed machine, loses claims.
    let keepsThroughRestart: Bool
    /// Whether this run began with all that the one before wrote, rather than with a snapshot or nothing. Turning `appendonly`
    /// on later rewrites the file.
    let beganWithAll: Bool
    /// Whether this run followed a primary before it became one itself.
    let wasReplica: Bool
    /// Why claims must not go there; `nil` where they may.
    let problem: String?

    /// The commands that ask for all this. The second may be denied.
    static let commands: [RedisCommand] = [["INFO"], ["CONFIG", "GET", "appendfsync", "no-appendfsync-on-rewrite"]]

    /// Reads the replies to ``commands``; `nil` where they are not Redis'.
    init?(_ replies: ArraySlice<RedisReply>, _ configuration: RedisConfiguration) {
        guard let info = replies.first?.text else { return nil }
        var fields: [Substring: Substring] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let runID = fields["run_id"] else { return nil }
        self.runID = String(runID)
        // Name, value, name, value.
        let settings = replies.last?.array?.compactMap(\.text) ?? []
        let always = ["appendfsync", "always", "no-appendfsync-on-rewrite", "no"]
        keepsThroughRestart =
            fields["aof_enabled"] == "1" && settings.count == 4 && Set(settings) == Set(always)
        beganWithAll = fields["aof_rewrites"] == "0" && fields["aof_rewrite_in_progress"] == "0"
        wasReplica = fields["total_net_repl_input_bytes"].map { $0 != "0" } ?? false
        problem = Self.problem(fields, configuration)
    }

    private static func problem(_ fields: [Substring: Substring], _ configuration: RedisConfiguration) -> String? {
        let version = fields["redis_version"] ?? "unknown"
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 else {
            return "is version \(printable(String(version))); expected Redis 7.0 or newer, or Valkey"
        }
        guard fields["loading"] != "1" else { return "is loading its data; it serves once it has" }
        // Its keys would have other names, and so be a second store.
        guard configuration.isCluster || fields["cluster_enabled"] != "1" else {
            return "is a node of a cluster; add ?cluster=true to its URL"
        }
        let policy = fields["maxmemory_policy"] ?? "unknown"
        guard fields["maxmemory"] == "0" || policy == "noeviction" else {
            return "evicts live keys to make room (maxmemory-policy \(printable(String(policy)))); set it to noeviction"
        }
        return nil
    }
}
