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
/// It can be used from any number of threads at once. Each call that runs at the same time as others has connections of its
/// own, one to each server. ``open(at:)`` and ``claim(_:at:)`` block for the configuration's deadline at most, unless the
/// resolver is slow to look up the host's name.
public final class RedisReplayCache: ReplayCache {
    /// The settings of the store's URL.
    public let configuration: RedisConfiguration
    /// The sessions that no call uses at the moment.
    private let idle = Guarded<[RedisSession]>([])

    /// Creates a store, which connects to its servers at the first call.
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

    /// Counts the store's entries by reading all keys of all servers, which takes seconds for millions of keys. The
    /// deadline holds for each request. A key may be counted twice while a server resizes its table.
    ///
    /// - Throws: ``ReplayCacheError``.
    public func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        try withSession { (session) throws(ReplayCacheError) in try RedisInventory(session).status() }
    }

    private func withSession<Value>(
        _ body: (RedisSession) throws(ReplayCacheError) -> Value
    ) throws(ReplayCacheError) -> Value {
        let kept = idle.withLock { $0.popLast() }
        let session = if let kept { kept } else { try RedisSession(configuration) }
        defer { idle.withLock { $0.append(session) } }
        return try body(session)
    }
}
