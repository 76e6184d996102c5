internal import EventLoops
internal import MediaToken

/// Knows which server has which shard: the one server there is, or what a cluster says.
final class RedisRouter {
    typealias Answer = (Result<Void, ReplayCacheError>) -> Void

    private let configuration: RedisConfiguration
    private let keys: RedisKeys
    private let loop: EventLoop
    private var nodes: [RedisAddress: RedisNode] = [:]
    private var owners: [RedisShard: RedisAddress] = [:]
    private var waiting: [Answer] = []
    private var isAsking = false
    private var timer: LoopTimer?

    init(_ configuration: RedisConfiguration, _ keys: RedisKeys, on loop: EventLoop) {
        self.configuration = configuration
        self.keys = keys
        self.loop = loop
        if !configuration.isCluster {
            for shard in keys.shards { owners[shard] = configuration.address }
        }
    }

    func node(at address: RedisAddress) -> RedisNode {
        if let node = nodes[address] { return node }
        let node = RedisNode(address, configuration, on: loop)
        nodes[address] = node
        return node
    }

    /// The node that has a shard, as far as is known.
    func owner(of shard: RedisShard) -> RedisNode? {
        owners[shard].map(node(at:))
    }

    /// All nodes that have a shard, and those that each has.
    var shardsByNode: [(node: RedisNode, shards: [RedisShard])] {
        Dictionary(grouping: keys.shards.filter { owners[$0] != nil }) { owners[$0] }
            .compactMap { address, shards in address.map { (node(at: $0), shards) } }
    }

    func shards(of node: RedisNode) -> [RedisShard] {
        keys.shards.filter { owners[$0] == node.address }
    }

    /// A node said that the shard is elsewhere.
    func moved(_ shard: RedisShard, to address: RedisAddress) {
        owners[shard] = address
    }

    /// Calls `body` once the cluster has said again who has what, or no node of it would.
    func refresh(_ body: @escaping Answer) {
        guard configuration.isCluster else { return body(.success(())) }
        waiting.append(body)
        guard !isAsking else { return }
        isAsking = true
        let known = Set(owners.values).subtracting([configuration.address])
        ask([configuration.address] + known.sorted { $0.port < $1.port }, lastError: nil)
    }

    private func ask(_ addresses: [RedisAddress], lastError: ReplayCacheError?) {
        guard let address = addresses.first else {
            return answerAll(
                .failure(lastError ?? .unavailable("\(configuration.address) tells nothing of its cluster")))
        }
        let node = node(at: address)
        var isDone = false
        let next = { (error: ReplayCacheError) in
            guard !isDone else { return }
            isDone = true
            self.timer = nil
            self.ask(Array(addresses.dropFirst()), lastError: lastError ?? error)
        }
        // One that hangs must not keep the others from being asked.
        timer = loop.timer(afterMilliseconds: max(1, configuration.timeoutMilliseconds / 3)) {
            next(.unavailable("\(address) does not tell its cluster's slots"))
            node.drop("does not tell its cluster's slots")
        }
        node.whenConnected { outcome in
            if case .failure(let error) = outcome { return next(error) }
            node.send([["CLUSTER", "SLOTS"]]) { replies in
                switch replies[0] {
                case .array(let ranges) where !isDone && self.learn(ranges, from: address):
                    isDone = true
                    self.timer = nil
                    self.answerAll(.success(()))
                case .array: next(.unavailable("\(address) is of a cluster that has no slots"))
                case .error(let error): next(error.fault(of: address))
                default: next(.unavailable(node.lossReason))
                }
            }
        }
    }

    /// Each range: first slot, last slot, its primary (address, port, …), its replicas. `false`, and nothing learned, where
    /// there are none.
    private func learn(_ ranges: [RedisReply], from source: RedisAddress) -> Bool {
        var owners: [RedisShard: RedisAddress] = [:]
        for range in ranges {
            guard let parts = range.array, parts.count >= 3, case .integer(let first) = parts[0],
                case .integer(let last) = parts[1], let primary = parts[2].array, primary.count >= 2,
                case .integer(let port) = primary[1]
            else { continue }
            let host = primary[0].text.flatMap { $0.isEmpty ? nil : $0 } ?? source.host
            let address = RedisAddress(host: host, port: Int32(truncatingIfNeeded: port))
            for shard in keys.shards where (first...max(first, last)).contains(Int64(shard.slot)) {
                owners[shard] = address
            }
        }
        guard !owners.isEmpty else { return false }
        self.owners = owners
        return true
    }

    private func answerAll(_ outcome: Result<Void, ReplayCacheError>) {
        isAsking = false
        let answers = waiting
        waiting = []
        for answer in answers { answer(outcome) }
    }
}
