internal import MediaToken

/// The marker that is kept beside the keys of a shard and is lost with them: since when the keys are remembered, by
/// which run of a server, and what that run had lost by then.
struct RedisMarker: Equatable {
    let since: Timestamp
    let runID: String
    /// Whether the run loses nothing when it ends.
    let isKept: Bool
    let losses: RedisLosses

    init(since: Timestamp, runID: String, isKept: Bool, losses: RedisLosses) {
        (self.since, self.runID, self.isKept, self.losses) = (since, runID, isKept, losses)
    }

    /// Reads the reply to `GET` of the marker's key; `nil` for anything that is not such a text.
    init?(_ reply: RedisReply) {
        guard let words = reply.text?.utf8.split(separator: UInt8(ascii: " ")).map({ Substring($0) }),
            words.count == 4, let since = Int64(words[0]), let isKept = Self.keeping[String(words[2])],
            let losses = RedisLosses(words[3])
        else { return nil }
        self.init(since: Timestamp(milliseconds: since), runID: String(words[1]), isKept: isKept, losses: losses)
    }

    /// The marker as it is stored: its fence in milliseconds, then run, durability and losses, separated by spaces.
    var text: (since: Timestamp, rest: String) { (since, "\(runID) \(isKept ? "kept" : "volatile") \(losses.text)") }

    private static let keeping = ["kept": true, "volatile": false]

    /// Whether the marker holds for a server: the run that answers now set it, has lost nothing since, and still keeps
    /// what the marker says that it keeps.
    func isOf(_ server: RedisServerFacts) -> Bool {
        runID == server.runID && server.losses.map { vouches(for: $0, of: server) } == true
            && isKept == remainsKept(by: server)
    }

    /// Whether the run that set the marker has lost nothing since.
    private func vouches(for losses: RedisLosses, of server: RedisServerFacts) -> Bool {
        losses == self.losses && since >= server.leastFence ?? since
    }

    /// Why no claim may be accepted under the marker, although it holds: its run no longer appends to its file.
    ///
    /// The file ends with a marker that vouches for all that this run acknowledges, but claims, and other markers, no
    /// longer reach it. If the server were started from that file, the marker would be believed and the claims forgotten.
    func problem(on server: RedisServerFacts) -> String? {
        guard isKept, runID == server.runID, !server.appends else { return nil }
        return "does not append to its file any more, which it began with; set appendonly yes again, or restart it"
    }

    /// The marker that should replace this one: set by the run that answers now, with the fence of a store that begins
    /// now unless the past can be believed. `nil` if this one holds.
    ///
    /// - Parameter waits: whether claims are confirmed by replicas before they are answered.
    func renewed(by server: RedisServerFacts, fence: Timestamp, waits: Bool) -> RedisMarker? {
        guard !isOf(server), let losses = server.losses else { return nil }
        let (isBelieved, isKept) =
            runID == server.runID
            ? (vouches(for: losses, of: server), remainsKept(by: server))
            : (isBelieved(by: server, losses, waits: waits), server.keepsThroughRestart)
        return RedisMarker(
            since: isBelieved ? since : max(since, fence), runID: server.runID, isKept: isKept, losses: losses)
    }

    /// Whether another run than the one that set the marker has all keys that were set under it.
    private func isBelieved(by server: RedisServerFacts, _ losses: RedisLosses, waits: Bool) -> Bool {
        // The run may have evicted some before any client asked it.
        guard losses.isWithoutEviction else { return false }
        // A replica that takes over has those of its primary's last claims that waited for it. Any other run is a restart:
        // what a snapshot brings back is an older state of the store, marker included.
        return losses.hasFollowed
            ? waits || server.isStatedDurable : isKept && server.keepsThroughRestart && server.beganWithAll
    }

    /// Whether the marker stays `kept` on the run that set it. It never becomes `kept` again during the same run, because
    /// claims from the time before may be missing from the file.
    private func remainsKept(by server: RedisServerFacts) -> Bool {
        isKept && (server.keepsThroughRestart || !server.appends)
    }
}
