internal import Basics
public import MediaToken

/// A replay store for a fleet: a Redis or Valkey server of version 7.0 or newer, a Redis Cluster of them, or a quorum
/// of servers or clusters that know nothing of each other.
///
/// A claim is `SET … NX PXAT …`: the server decides, in the order in which claims reach it, and forgets a key at a time
/// that follows from the token itself. <doc:ReplayRedis> lists what the store promises through which fault.
///
/// - A claim that was sent and whose answer was lost is not sent again. It may have been carried out, and asking again
///   would then call the viewer's own first use "already used"; nor may it be called unused. It is
///   `ReplayStoreError.unavailable`, and the token may count as used.
/// - A store without a past (new, flushed, restarted without `appendfsync always`, or taken over by a replica that
///   claims did not wait for) is fenced: tokens issued before are `ReplayAnswer.predatesStore`.
///
/// It can be used from any number of threads at once. Each call that runs at the same time as others has connections of
/// its own, one to each server and more while claims wait for replicas; for later calls the store keeps those of 64
/// calls. ``claim(_:at:)`` blocks for the configuration's timeout at most, and ``open(at:)`` for four times as long.
public final class RedisReplayStore: ReplayStore {
    /// The settings of the store's URL.
    public let configuration: RedisConfiguration
    /// The number of sessions that are kept for later calls. A crowd of callers does not keep its connections.
    private static let mostIdle = 64
    /// The sessions that no call uses at the moment.
    private let idle = Guarded<[RedisSession]>([])
    /// The client that asks for suspended callers; `nil` until the first of them.
    private let thread = Guarded<RedisClientThread?>(nil)

    /// Creates a store, which connects to its servers at the first call.
    public init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
    }

    /// Connects, checks that the store can be relied on, and sets its fence if it begins now.
    ///
    /// A quorum is open once a majority of its servers is, unless one of the others belongs to another quorum. The
    /// store first looks at all servers that answer, and then sets markers. A new quorum begins only when all of its
    /// servers answer: two lists of hosts could otherwise begin it beside each other.
    ///
    /// - Parameter now: the fence of a store that begins now, before the configuration's clock skew.
    /// - Throws: `ReplayStoreError`: the server is out of reach, refuses the login, may evict keys, is too old, …
    public func open(at now: Timestamp = .now) throws(ReplayStoreError) {
        if configuration.isQuorum {
            let looked = try open(at: now, looksOnly: true)
            let marked = try RedisQuorum.majority(of: looked)
            if !marked.contains(true), let error = looked.lazy.compactMap(\.failure).first {
                throw .unavailable("a new quorum begins only when all of its servers answer: \(error)")
            }
        }
        _ = try RedisQuorum.majority(of: try open(at: now, looksOnly: false))
    }

    private func open(
        at now: Timestamp, looksOnly: Bool
    ) throws(ReplayStoreError) -> [Result<Bool, ReplayStoreError>] {
        try withSession { (session) throws(ReplayStoreError) in
            try session.wait { done in
                session.quorum.open(at: now, timeouts: 4, looksOnly: looksOnly) { done(.success($0)) }
            }
        }
    }

    /// Decides the claims of a group, in one flush to each server, as the protocol `ReplayStore` demands.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        do throws(ReplayStoreError) {
            return try withSession { (session) throws(ReplayStoreError) in
                try session.wait { done in session.quorum.claim(group, at: now) { done(.success($0)) } }
            }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    /// Decides the claims of a group like ``claim(_:at:)``. The store has one more connection to each server for all
    /// such calls, up to four where claims wait for replicas, and a thread that waits for the answers.
    public func claimWithoutBlocking(
        _ group: [ReplayClaim], at now: Timestamp
    ) async -> [Result<ReplayAnswer, ReplayStoreError>] {
        do throws(ReplayStoreError) {
            return await (try clientThread()).claim(group, at: now)
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    private func clientThread() throws(ReplayStoreError) -> RedisClientThread {
        try thread.withLock { (kept) throws(ReplayStoreError) in
            let thread = if let kept { kept } else { try RedisClientThread(configuration) }
            kept = thread
            return thread
        }
    }

    /// Checks the store, and reports its fence and the state of a quorum's servers.
    ///
    /// The fence is the latest of all shards; with a quorum it is the time since which a majority remembers.
    ///
    /// - Throws: `ReplayStoreError`, unless each server takes keys now, or a majority of a quorum's servers.
    package func report(at now: Timestamp) throws(ReplayStoreError) -> ReplayStoreReport {
        try withSession { (session) throws(ReplayStoreError) in
            let clients = session.quorum.clients
            let opened = try session.wait { done in
                session.quorum.open(at: now, timeouts: 1) { done(.success($0)) }
            }
            let outcomes = zip(clients, opened).map { client, outcome in
                outcome.flatMap { _ in
                    Result { () throws(ReplayStoreError) in try RedisInventory(session, client).probe() }
                }
            }
            let fences = try RedisQuorum.majority(of: outcomes)
            // A token is decided if it was issued after the fences of a majority.
            let fence = fences.sorted()[QuorumVote.majority(of: clients.count) - 1]
            let servers = zip(clients, outcomes).map { client, outcome in
                ReplayStoreReport.Server(name: client.configuration.description, problem: outcome.failure)
            }
            return ReplayStoreReport(fence: fence, servers: clients.count > 1 ? servers : [])
        }
    }

    /// Advises the operator on settings with which a fault costs less, in one sentence; `nil` if all is set so. A
    /// quorum needs no advice: by a fault it loses one vote.
    ///
    /// - Throws: `ReplayStoreError`.
    package func advice() throws(ReplayStoreError) -> String? {
        guard !configuration.isQuorum else { return nil }
        return try askEach { (inventory) throws(ReplayStoreError) in try inventory.advice() }[0].get()
    }

    /// Counts the store's entries by reading all keys of all servers, which takes seconds for millions of keys. The
    /// deadline holds for each request. A key may be counted twice while a server resizes its table. For a quorum, the
    /// contents are those of the server that has most entries.
    ///
    /// - Throws: `ReplayStoreError`.
    public func contents() throws(ReplayStoreError) -> ReplayStoreContents {
        let contents = try RedisQuorum.majority(
            of: try askEach { (inventory) throws(ReplayStoreError) in try inventory.contents() })
        return contents.max { $0.entries < $1.entries } ?? contents[0]
    }

    /// What a claim would find now, without making it: nothing is written.
    ///
    /// - Throws: `ReplayStoreError`.
    package func find(_ question: ReplayQuestion, at now: Timestamp) throws(ReplayStoreError) -> ReplayLookupResult {
        let found = try askEach { (inventory) throws(ReplayStoreError) in try inventory.find(question, at: now) }
        var vote = QuorumVote(claims: 1, servers: found.count)
        for result in found { vote.add([result.map(\.vote)]) }
        guard let answer = try vote.answers?[0].get(),
            let result = found.lazy.compactMap({ try? $0.get() }).first(where: { $0.vote == answer })
        else { throw .unavailable("\(configuration): undecided") }
        return result
    }

    /// Asks each server of the store, one after the other.
    private func askEach<Value>(
        _ body: (RedisInventory) throws(ReplayStoreError) -> Value
    ) throws(ReplayStoreError) -> [Result<Value, ReplayStoreError>] {
        try withSession { (session) throws(ReplayStoreError) in
            session.quorum.clients.map { client in
                Result { () throws(ReplayStoreError) in try body(RedisInventory(session, client)) }
            }
        }
    }

    private func withSession<Value>(
        _ body: (RedisSession) throws(ReplayStoreError) -> Value
    ) throws(ReplayStoreError) -> Value {
        let kept = idle.withLock { $0.popLast() }
        let session = if let kept { kept } else { try RedisSession(configuration) }
        defer { idle.withLock { if $0.count < Self.mostIdle { $0.append(session) } } }
        return try body(session)
    }
}
