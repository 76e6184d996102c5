internal import MediaToken

/// What `INFO` tells about a server, once for each connection: it stays true until the server restarts, which ends the
/// connection.
struct RedisServerFacts {
    /// Names this run of this server: another run may have another memory.
    let runID: String
    /// Whether what a run has acknowledged is there in the next (`appendonly yes`).
    let keepsThroughRestart: Bool
    /// Why claims must not go there; `nil` where they may.
    let problem: String?

    /// Reads the reply to `INFO`; `nil` where it is none.
    init?(_ info: String) {
        var fields: [Substring: Substring] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        guard let runID = fields["run_id"], let version = fields["redis_version"] else { return nil }
        self.runID = String(runID)
        keepsThroughRestart = fields["aof_enabled"] == "1"
        problem = Self.problem(version: version, fields)
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
