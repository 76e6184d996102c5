internal import MediaToken

/// The marker that is kept beside the keys of a shard and is lost with them: since when the keys are remembered, by
/// which run of a server, and what that run had lost by then.
struct RedisMarker: Equatable {
    /// Whether each claim was confirmed, before it was answered, by all replicas that could take over.
    enum Confirmation: String {
        case confirmed
        /// It was confirmed until now, and a client that waits for fewer replicas is taking that back. Until all
        /// replicas know, claims still have to be confirmed by all: a replica that did not know could take over, and be
        /// believed.
        case withdrawn
        case unconfirmed
    }

    let since: Timestamp
    let runID: String
    /// Whether the run loses nothing when it ends.
    let isKept: Bool
    private(set) var confirmation: Confirmation
    let losses: RedisLosses
    /// The server's seat in a quorum; `nil` if it decides alone. It has no vote in another quorum: two lists of hosts
    /// may have majorities without a common server.
    let quorum: RedisQuorumSeat?

    private init(
        since: Timestamp, runID: String, isKept: Bool, confirmation: Confirmation, losses: RedisLosses,
        quorum: RedisQuorumSeat?
    ) {
        (self.since, self.runID, self.isKept, self.confirmation) = (since, runID, isKept, confirmation)
        (self.losses, self.quorum) = (losses, quorum)
    }

    /// The marker of a store that begins now; `nil` while the losses of the run are not known.
    ///
    /// - Parameter fence: the fence of a store whose keys were never anywhere else.
    init?(beginningOn server: RedisServerFacts, fence: Timestamp) {
        guard let losses = server.losses else { return nil }
        // The primary before it may still answer clients that can reach it; the fence covers that overlap.
        let since = losses.hasFollowed ? fence.advanced(by: server.replication.overlap) : fence
        self.init(
            since: since, runID: server.runID, isKept: server.keepsThroughRestart,
            confirmation: server.replication.isConfirmedByAll ? .confirmed : .unconfirmed, losses: losses,
            quorum: server.quorum)
    }

    /// Reads the reply to `GET` of the marker's key; `nil` for anything that is not such a text.
    init?(_ reply: RedisReply) {
        guard let words = reply.text?.utf8.split(separator: UInt8(ascii: " ")).map({ Substring($0) }),
            words.count == 5 || words.count == 6, let since = Int64(words[0]), let isKept = Self.keeping[words[2]],
            let confirmation = Confirmation(rawValue: String(words[3])), let losses = RedisLosses(words[4])
        else { return nil }
        self.init(
            since: Timestamp(milliseconds: since), runID: String(words[1]), isKept: isKept,
            confirmation: confirmation, losses: losses, quorum: words.dropFirst(5).first.flatMap(RedisQuorumSeat.init))
    }

    /// The marker as it is stored: its fence in milliseconds, then run, durability, confirmation, losses and, if there
    /// is one, the quorum, separated by spaces.
    var text: (since: Timestamp, rest: String) {
        (
            since,
            "\(runID) \(isKept ? "kept" : "volatile") \(confirmation.rawValue) \(losses.text)"
                + (quorum.map { " \($0.text)" } ?? "")
        )
    }

    private static let keeping: [Substring: Bool] = ["kept": true, "volatile": false]

    /// Whether the marker holds for a server: the run that answers now set it, has lost nothing since, and still
    /// promises what the marker says.
    func isOf(_ server: RedisServerFacts) -> Bool {
        runID == server.runID && server.losses.map { vouches(for: $0, of: server) } == true
            && isKept == remainsKept(by: server) && confirmation == remainingConfirmation(by: server)
            && quorum == server.quorum
    }

    /// Whether the run that set the marker has lost nothing since.
    private func vouches(for losses: RedisLosses, of server: RedisServerFacts) -> Bool {
        losses == self.losses && since >= server.leastFence ?? since
    }

    /// Why the URL and the marker are at odds about the hosts of the quorum that the server votes in; `nil` if they are
    /// not. No claim may then be accepted.
    func conflict(with server: RedisServerFacts) -> String? {
        guard quorum?.hosts != server.quorum?.hosts else { return nil }
        func name(_ quorum: RedisQuorumSeat?) -> String { quorum.map { "the quorum \($0.hosts)" } ?? "no quorum" }
        return "belongs to \(name(quorum)), and the URL names \(name(server.quorum)); give all users of the store the "
            + "same hosts"
    }

    /// Why no claim may be accepted under the marker, although it holds: its run no longer appends to its file.
    ///
    /// The file ends with a marker that vouches for all that this run acknowledges, but claims, and other markers, no
    /// longer reach it. If the server were started from that file, the marker would be believed and the claims
    /// forgotten.
    func problem(on server: RedisServerFacts) -> String? {
        if let seat = quorum, let own = server.quorum, seat.member != own.member {
            return "has the memory of \(seat.member), another member of its quorum, and so no vote; name each server "
                + "once, and begin a copied one empty"
        }
        guard isKept, runID == server.runID, !server.appends else { return nil }
        return "does not append to its file any more, which it began with; set appendonly yes again, or restart it"
    }

    /// The marker that should replace this one: set by the run that answers now, with the fence of a store that begins
    /// now unless the past can be believed. `nil` if this one holds.
    func renewed(by server: RedisServerFacts, fence: Timestamp) -> RedisMarker? {
        guard !isOf(server), quorum == server.quorum, let losses = server.losses,
            let new = RedisMarker(beginningOn: server, fence: fence)
        else { return nil }
        let isOfRun = runID == server.runID
        let isBelieved = isOfRun ? vouches(for: losses, of: server) : isBelieved(by: server, losses)
        return RedisMarker(
            since: isBelieved ? since : max(since, isOfRun ? fence : new.since), runID: new.runID,
            isKept: isOfRun ? remainsKept(by: server) : new.isKept,
            confirmation: isOfRun ? remainingConfirmation(by: server) : newConfirmation(new, on: server),
            losses: losses, quorum: quorum)
    }

    /// Whether another run than the one that set the marker has all keys that were set under it.
    private func isBelieved(by server: RedisServerFacts, _ losses: RedisLosses) -> Bool {
        // The run may have evicted some before any client asked it.
        guard losses.isWithoutEviction else { return false }
        // A replica that takes over has what all replicas had confirmed, whichever of them it is. Any other run is a
        // restart: what a snapshot brings back is an older state of the store, marker included.
        return losses.hasFollowed
            ? confirmation == .confirmed || server.isStatedDurable
            : isKept && server.keepsThroughRestart && server.beganWithAll
    }

    /// The confirmation of the marker that replaces this one on another run.
    ///
    /// Where claims wait for one replica because the URL says nothing, and there were more, there will be more again.
    private func newConfirmation(_ new: RedisMarker, on server: RedisServerFacts) -> Confirmation {
        confirmation == .unconfirmed && !server.replication.isWaitStated ? .unconfirmed : new.confirmation
    }

    /// What is left of the marker's confirmation on the run that set it. It never becomes `confirmed` again during the
    /// same run, because claims from the time before may be missing on a replica.
    private func remainingConfirmation(by server: RedisServerFacts) -> Confirmation {
        server.replication.isConfirmedByAll ? confirmation : .unconfirmed
    }

    /// The marker that all replicas must have before this one may replace `old`; `nil` if none is needed.
    ///
    /// A replica that has a marker which says `confirmed`, of whatever run, would be believed.
    func prepared(over old: RedisMarker?) -> RedisMarker? {
        guard confirmation == .unconfirmed, old?.confirmation != .unconfirmed else { return nil }
        var marker = self
        marker.confirmation = .withdrawn
        return marker
    }

    /// Whether the marker stays `kept` on the run that set it. It never becomes `kept` again during the same run,
    /// because claims from the time before may be missing from the file.
    private func remainsKept(by server: RedisServerFacts) -> Bool {
        isKept && (server.keepsThroughRestart || !server.appends)
    }
}

/// The seat of a server in a quorum. A server remembers the claims that were sent to its own seat, and so has no vote
/// for another one.
struct RedisQuorumSeat: Equatable {
    /// The member's own host.
    let member: String
    /// The hosts of all members, in the order of the alphabet.
    let hosts: String

    init(_ member: RedisConfiguration.Host, of members: [RedisConfiguration.Host]) {
        self.member = member.text
        hosts = members.map(\.text).sorted().joined(separator: ",")
    }

    /// Reads a word of a marker.
    init?(_ word: Substring) {
        let parts = word.split(separator: "@")
        guard parts.count == 2 else { return nil }
        (member, hosts) = (String(parts[0]), String(parts[1]))
    }

    var text: String { "\(member)@\(hosts)" }
}
