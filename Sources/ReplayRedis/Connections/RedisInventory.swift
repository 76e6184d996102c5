internal import MediaToken

/// Goes through all that a store holds, for its operator.
struct RedisInventory {
    private let session: RedisSession
    private let client: RedisReplayClient

    init(_ session: RedisSession) {
        self.session = session
        client = session.client
    }

    func contents() throws(ReplayStoreError) -> ReplayStoreContents {
        let fence = try fence()
        var counts: [ReplayBucket: Int] = [:]
        var bytes = 0
        for node in client.servers.owning {
            counts.merge(try self.counts(on: node), uniquingKeysWith: +)
            bytes += try memory(of: node)
        }
        return ReplayStoreContents(buckets: counts.map { ($0.key, $0.value) }, bytes: bytes, fence: fence)
    }

    /// The latest fence of all shards.
    func fence() throws(ReplayStoreError) -> Timestamp {
        _ = try session.wait { client.learnSlots($0) }
        var fences: [Timestamp] = []
        for node in client.servers.owning {
            let markers = try ask(node, client.servers.shards(of: node).map { ["GET", client.keys.marker(of: $0)] })
            fences += markers.compactMap { RedisMarker($0)?.since }
        }
        guard let latest = fences.max() else {
            throw .unavailable(
                "\(client.configuration.address) holds no replay store with the prefix '\(client.keys.prefix)'")
        }
        return latest
    }

    private func counts(on node: Int) throws(ReplayStoreError) -> [ReplayBucket: Int] {
        var counts: [ReplayBucket: Int] = [:]
        var cursor = "0"
        repeat {
            let page = try ask(node, [["SCAN", cursor, "MATCH", client.keys.pattern, "COUNT", "1000"]])
            guard let parts = page[0].array, parts.count == 2, let next = parts[0].text, let keys = parts[1].array
            else {
                throw .unavailable("\(client.servers.nodes[node].address) does not answer SCAN as Redis does")
            }
            cursor = next
            guard !keys.isEmpty else { continue }
            for case .integer(let moment) in try ask(node, keys.compactMap { $0.text.map { ["PEXPIRETIME", $0] } })
            where moment > 0 {
                let until = Timestamp(milliseconds: moment).advanced(byMilliseconds: -RedisClock.keptMilliseconds)
                counts[ReplayBucket(expiring: until), default: 0] += 1
            }
        } while cursor != "0"
        return counts
    }

    /// The memory in bytes that the server takes, including what other programs keep on it.
    private func memory(of node: Int) throws(ReplayStoreError) -> Int {
        let info = RedisInfo(try ask(node, [["INFO", "memory"]])[0].text ?? "")
        return info["used_memory"].flatMap(Int.init) ?? 0
    }

    private func ask(_ node: Int, _ commands: [RedisCommand]) throws(ReplayStoreError) -> [RedisReply] {
        try session.wait { client.ask(commands, of: node, $0) }
    }
}
