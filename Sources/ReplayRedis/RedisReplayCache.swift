public import MediaToken

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
    private let idle = IdleRedisSessions()

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
            return try withSession { (session) throws(ReplayCacheError) in
                try session.wait { done in session.client.claim(group, at: now) { done(.success($0)) } }
            }
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
