internal import EventLoops
public import MediaToken
internal import Threading

/// A replay store for a fleet: a Redis or Valkey server of version 7.0 or newer, or a Redis Cluster of them.
///
/// A claim is `SET … NX PXAT …`: the server decides, in the order in which claims reach it, and forgets a key at a moment
/// that the token itself sets. What the store promises through which fault stands in the article on replay stores.
///
/// - A claim that was sent and whose answer was lost is not sent again. It may have been carried out, and asking again would
///   then call the viewer's own first use "already used"; nor may it be called unused. It is
///   ``ReplayCacheError/unavailable(_:)``, and the token may count as used.
/// - A store without a past (new, flushed, restarted without `appendfsync always`, or taken over by a replica that claims did
///   not wait for) is fenced: tokens issued before are ``ReplayAnswer/predatesStore(since:)``.
///
/// Safe to use from any number of threads at once, each of which gets a connection of its own. Calls block for as long as
/// the deadline of the configuration at most, but for a resolver that is slow to look the host's name up.
public final class RedisReplayCache: ReplayCache {
    /// Where it is, and how it is asked.
    public let configuration: RedisConfiguration
    private let idle = IdleSessions()

    /// A store that is reached when it is first asked.
    public init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
    }

    /// Connects, checks that the store can be relied on, and sets its fence if it begins now.
    ///
    /// - Parameter now: the fence of a store that begins now, before the configuration's clock skew.
    /// - Throws: ``ReplayCacheError``: out of reach, refused, evicting keys, too old, …
    public func open(at now: Timestamp = .now) throws(ReplayCacheError) {
        try withSession { (session) throws(ReplayCacheError) in
            try session.wait { session.client.open(at: now, $0) }
        }
    }

    /// Decides the claims of a group, in one flush to each server; see ``ReplayCache``.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>] {
        do throws(ReplayCacheError) {
            return try withSession { (session) throws(ReplayCacheError) in session.claim(group, at: now) }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }

    /// What it holds. Goes through all keys of all servers, which takes seconds for millions.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        try withSession { (session) throws(ReplayCacheError) in try RedisInventory(session).status() }
    }

    private func withSession<Value>(
        _ body: (RedisSession) throws(ReplayCacheError) -> Value
    ) throws(ReplayCacheError) -> Value {
        let session = if let kept = idle.take() { kept } else { try RedisSession(configuration) }
        defer { idle.give(session) }
        return try body(session)
    }
}

/// A client with a loop of its own, which runs while somebody waits for it.
///
/// `@unchecked Sendable`: it is used by the one thread that took it out of the idle ones, until that puts it back.
final class RedisSession: @unchecked Sendable {
    let client: RedisReplayClient
    private let loop: EventLoop

    init(_ configuration: RedisConfiguration) throws(ReplayCacheError) {
        do { loop = try EventLoop() } catch {
            throw .unavailable("no event loop for \(configuration.address): out of file descriptors or memory")
        }
        client = RedisReplayClient(configuration, on: loop)
    }

    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayCacheError>] {
        // A connection that was closed while nobody looked is found out before something is sent on it.
        loop.runPending()
        var answers: [Result<ReplayAnswer, ReplayCacheError>]?
        client.claim(group, at: now) { answers = $0 }
        loop.run { answers != nil }
        return answers
            ?? group.map { _ in .failure(.unavailable("the event loop ended before the claims were answered")) }
    }

    /// Runs the loop until what `body` begins is done.
    func wait<Value>(
        _ body: (@escaping (Result<Value, ReplayCacheError>) -> Void) -> Void
    ) throws(ReplayCacheError) -> Value {
        let address = client.configuration.address
        let patience = client.configuration.timeoutMilliseconds
        loop.runPending()
        var outcome: Result<Value, ReplayCacheError>?
        let timer = loop.timer(afterMilliseconds: patience) {
            outcome = outcome ?? .failure(.unavailable("\(address) did not answer within \(patience) ms"))
        }
        body { outcome = outcome ?? $0 }
        withExtendedLifetime(timer) { loop.run { outcome != nil } }
        guard let outcome else { throw .unavailable("the event loop ended before \(address) answered") }
        return try outcome.get()
    }
}

/// Sessions that nobody uses at the moment.
private final class IdleSessions: Sendable {
    private let lock = Lock()
    private nonisolated(unsafe) var sessions: [RedisSession] = []

    func take() -> RedisSession? {
        lock.withLock { sessions.popLast() }
    }

    func give(_ session: RedisSession) {
        lock.withLock { sessions.append(session) }
    }
}
