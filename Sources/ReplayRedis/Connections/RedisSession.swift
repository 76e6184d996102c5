internal import EventLoops
internal import MediaToken

/// A client with an event loop of its own, which runs while its thread waits for an answer.
///
/// `@unchecked Sendable`: it is used by the one thread that took it from a ``RedisReplayStore``, until that thread
/// gives it back.
final class RedisSession: @unchecked Sendable {
    let quorum: RedisQuorum
    private let loop: EventLoop

    init(_ configuration: RedisConfiguration) throws(ReplayStoreError) {
        do { loop = try EventLoop() } catch {
            throw .unavailable("no event loop for \(configuration.address): out of file descriptors or memory")
        }
        quorum = RedisQuorum(configuration, on: loop)
    }

    /// Runs the loop until what `body` begins is done. The clients see to it that it is done by the deadline.
    func wait<Value>(
        _ body: (@escaping (Result<Value, ReplayStoreError>) -> Void) -> Void
    ) throws(ReplayStoreError) -> Value {
        // Finds out about a connection that ended while the session was idle, before something is sent on it.
        loop.runPending()
        var outcome: Result<Value, ReplayStoreError>?
        loop.run {
            body { outcome = $0 }
        } until: {
            outcome != nil
        }
        guard let outcome else { throw .unavailable("the event loop ended before the store answered") }
        return try outcome.get()
    }
}
