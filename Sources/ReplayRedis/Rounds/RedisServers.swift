/// The place where a claim is made: a server, by its number among ``RedisServers``.
struct RedisTarget: Hashable {
    let node: Int
    /// Whether the server is only about to get the slot, so that each command needs an `ASKING` before it.
    var isAsking = false
}

/// The servers of a store, and which of them owns which shard: the one server there is, or what a cluster says.
struct RedisServers {
    var nodes: [RedisNode] = []
    private var numbers: [RedisAddress: Int] = [:]
    /// The owner of each shard, by the shard's number; `nil` if no owner is known.
    private var owners: [Int?]
    private let shards: [RedisShard]
    private let isTLS: Bool

    init(_ terms: RedisTerms) {
        let configuration = terms.configuration
        shards = terms.keys.shards
        isTLS = configuration.isTLS
        owners = shards.map { _ in nil }
        let first = number(of: configuration.address)
        if !configuration.isCluster { owners = shards.map { _ in first } }
    }

    /// What a node of a cluster gives for a host name that it should announce, and does not have.
    static let unknownHost = "?"

    /// The number of the server at an address, which is new if it was not known.
    mutating func number(of address: RedisAddress) -> Int {
        if let number = numbers[address] { return number }
        nodes.append(RedisNode(address))
        numbers[address] = nodes.count - 1
        return nodes.count - 1
    }

    /// The number of the server that `source` names in a redirection.
    mutating func number(of redirection: RedisRedirection, from source: Int) -> Int {
        number(ofHost: redirection.host, port: redirection.port, toldBy: source)
    }

    /// - Parameter source: the server that named the host; an empty name is the source's own host.
    private mutating func number(ofHost host: String, port: Int32, toldBy source: Int) -> Int {
        let host = host.isEmpty ? nodes[source].address.host : host
        return number(of: RedisAddress(host: host, port: port, isTLS: isTLS))
    }

    /// The server that owns a shard; `nil` if none is known.
    func owner(of shard: RedisShard) -> Int? { owners[shard.number] }

    /// The shards that a server owns.
    func shards(of node: Int) -> [RedisShard] { shards.filter { owners[$0.number] == node } }

    /// The servers that own a shard.
    var owning: [Int] { Set(owners.compactMap(\.self)).sorted() }

    /// Records that the server `source` named another as the owner of a slot.
    mutating func follow(_ redirection: RedisRedirection, from source: Int) {
        let node = number(of: redirection, from: source)
        for shard in shards where shard.slot == redirection.slot { owners[shard.number] = node }
    }

    /// Records the owners of all slots, from the reply of the server `source` to `CLUSTER SLOTS`. Each range is its
    /// first slot, its last slot, its primary (address, port, ID, further addresses), and its replicas.
    ///
    /// - Returns: `false`, and nothing recorded, if the reply names no owner.
    mutating func learn(_ ranges: [RedisReply], from source: Int) -> Bool {
        var learned: [Int?] = shards.map { _ in nil }
        for range in ranges {
            guard let parts = range.array, parts.count >= 3, case .integer(let first) = parts[0],
                case .integer(let last) = parts[1], first <= last, let primary = parts[2].array, primary.count >= 2,
                case .integer(let port) = primary[1]
            else { continue }
            var host = primary[0].text ?? ""
            if host == Self.unknownHost, let others = primary.last?.array, let ip = others.firstIndex(of: .text("ip")) {
                host = others.dropFirst(ip + 1).first?.text ?? host
            }
            let node = number(ofHost: host, port: Int32(clamping: port), toldBy: source)
            for shard in shards where (first...last).contains(Int64(shard.slot)) { learned[shard.number] = node }
        }
        guard learned.contains(where: { $0 != nil }) else { return false }
        owners = learned
        return true
    }
}
