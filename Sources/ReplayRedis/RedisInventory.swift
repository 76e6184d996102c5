internal import MediaToken

/// Goes through all that a store holds, for people who run it.
struct RedisInventory {
    private let session: RedisSession
    private let client: RedisReplayClient

    init(_ session: RedisSession) {
        self.session = session
        client = session.client
    }

    func status() throws(ReplayCacheError) -> ReplayStoreStatus {
        try session.wait { client.router.refresh($0) }
        var counts: [ReplayBucket: Int] = [:]
        var bytes = 0
        var fence: Timestamp?
        for (node, shards) in client.router.shardsByNode {
            _ = try session.wait { node.whenConnected($0) }
            let markers = try ask(node, shards.map { ["GET", client.keys.marker(of: $0)] })
            let since = markers.compactMap { RedisMarker($0)?.since }
            fence = (since + [fence].compactMap(\.self)).max()
            counts.merge(try self.counts(on: node), uniquingKeysWith: +)
            bytes += try memory(of: node)
        }
        guard let fence else {
            throw .unavailable(
                "\(client.configuration.address) holds no replay store with the prefix '\(client.keys.prefix)'")
        }
        return ReplayStoreStatus(buckets: counts.map { ($0.key, $0.value) }, bytes: bytes, fence: fence)
    }

    private func counts(on node: RedisNode) throws(ReplayCacheError) -> [ReplayBucket: Int] {
        var counts: [ReplayBucket: Int] = [:]
        var cursor = "0"
        repeat {
            let page = try ask(node, [["SCAN", cursor, "MATCH", client.keys.pattern, "COUNT", "1000"]])
            guard let parts = page[0].array, parts.count == 2, let next = parts[0].text, let keys = parts[1].array
            else {
                throw .unavailable("\(node.address) does not answer SCAN as Redis does")
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

    /// Bytes of memory that the server takes, for whatever else it holds too.
    private func memory(of node: RedisNode) throws(ReplayCacheError) -> Int {
        let lines = try ask(node, [["INFO", "memory"]])[0].text?.split(whereSeparator: \.isNewline) ?? []
        return lines.firstNonNil { $0.hasPrefix("used_memory:") ? Int($0.dropFirst(12)) : nil } ?? 0
    }

    private func ask(_ node: RedisNode, _ commands: [RedisCommand]) throws(ReplayCacheError) -> [RedisReply] {
        let replies: [RedisReply] = try session.wait { done in node.send(commands) { done(.success($0)) } }
        for case .error(let error) in replies where error.redirection == nil { throw error.fault(of: node.address) }
        if replies.contains(.lost) { throw .unavailable(node.lossReason) }
        return replies
    }
}

extension Sequence {
    fileprivate func firstNonNil<Value>(_ body: (Element) -> Value?) -> Value? {
        for element in self { if let value = body(element) { return value } }
        return nil
    }
}
