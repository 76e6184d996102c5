package import EventLoops
package import MediaToken

/// A Redis store as an event loop uses it: one connection to each server, any number of claims in flight.
///
/// It belongs to the loop's thread.
package final class RedisReplayClient: PipelinedReplayCache {
    let configuration: RedisConfiguration
    let keys: RedisKeys
    let loop: EventLoop
    let router: RedisRouter

    package init(_ configuration: RedisConfiguration, on loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
        keys = RedisKeys(configuration)
        router = RedisRouter(configuration, keys, on: loop)
    }

    /// Decides the claims of a group, in order; see `ReplayCache`. Calls `completion` once, with an answer for each, within
    /// the deadline of the configuration; it may be before this returns.
    package func claim(
        _ group: [ReplayClaim], at now: Timestamp,
        _ completion: @escaping ([Result<ReplayAnswer, ReplayCacheError>]) -> Void
    ) {
        RedisClaimGroup(group, at: now, self, completion).start()
    }

    /// Connects to every server, checks that claims may be accepted on it now, and sees to it that each shard has a marker,
    /// so that the store remembers from now on.
    package func open(at now: Timestamp, _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void) {
        let time = RunningTime(now)
        router.refresh { [self] outcome in
            guard case .success = outcome else { return completion(outcome) }
            var rest = router.shardsByNode.count
            var firstFailure: ReplayCacheError?
            let done = { (outcome: Result<Void, ReplayCacheError>) in
                if case .failure(let error) = outcome { firstFailure = firstFailure ?? error }
                rest -= 1
                if rest == 0 { completion(firstFailure.map { .failure($0) } ?? .success(())) }
            }
            guard rest > 0 else {
                return completion(
                    .failure(.unavailable("\(configuration.address) is of a cluster that has no slots yet")))
            }
            for (node, shards) in router.shardsByNode {
                node.whenConnected { [self] outcome in
                    switch outcome {
                    case .failure(let error): done(.failure(error))
                    case .success: renewMarkers(of: shards, on: node, at: time, done)
                    }
                }
            }
        }
    }

    /// Sees to it that shards have a marker that holds for the server as it is now.
    func renewMarkers(
        of shards: [RedisShard], on node: RedisNode, asking isAsking: Bool = false,
        at time: RunningTime, _ completion: @escaping (Result<Void, ReplayCacheError>) -> Void
    ) {
        RedisMarking(client: self, node: node, time: time, isAsking: isAsking).renew(shards, completion)
    }
}
