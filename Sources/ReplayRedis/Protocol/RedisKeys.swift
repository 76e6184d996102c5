internal import Basics
package import MediaToken

/// One of 256 groups of a store's keys. The keys of a shard have the same hash tag, so a cluster keeps them in one
/// slot.
package struct RedisShard: Hashable {
    let number: Int

    package init(number: Int) {
        self.number = number
    }

    /// The hash slot of its keys (Redis Cluster specification, "Key distribution model").
    package var slot: Int { Self.slots[number] }

    /// Two hexadecimal digits, between the braces of its keys.
    var tag: String { Self.tags[number] }

    private static let tags = (0..<256).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    private static let slots = tags.map { Int(crc16($0.utf8) % 16_384) }

    /// CRC-16/XMODEM, which the specification names.
    private static func crc16(_ bytes: some Sequence<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
    }
}

/// What the store's keys are called, and the commands on them.
struct RedisKeys {
    let prefix: String
    /// One for a server that loses all or nothing. In a cluster each node may lose its own, so there are many, each
    /// with a marker that lies beside its keys and moves with them.
    let shards: [RedisShard]

    init(_ configuration: RedisConfiguration) {
        prefix = configuration.prefix
        shards = (0..<(configuration.isCluster ? 256 : 1)).map { RedisShard(number: $0) }
    }

    func shard(of key: ReplayKey) -> RedisShard {
        shards[Int(key.words.0 >> 56) % shards.count]
    }

    /// Claims a key. The expiry is a moment, not a span, so that how long the command was on its way makes no
    /// difference.
    func claim(_ claim: ReplayClaim, at now: Timestamp) -> RedisCommand {
        let forgotten = String(claim.until.advanced(byMilliseconds: RedisClock.keptMilliseconds).milliseconds)
        let key = name(of: claim.key)
        guard let use = FingerprintedUse(claim, at: now) else { return ["SET", key, "1", "NX", "PXAT", forgotten] }
        return ["SET", key, use.text, "NX", "GET", "PXAT", forgotten]
    }

    /// What the server's reply to ``claim(_:at:)`` means; `nil` for one that Redis does not give. With `GET` it is what
    /// was there before, and null where nothing was.
    static func answer(_ reply: RedisReply, to claim: ReplayClaim) -> ReplayAnswer? {
        switch (reply, claim.fingerprint) {
        case (.text("OK"), nil), (.null, .some): .first
        case (.null, nil): .alreadyUsed
        case (.text(let use), .some): FingerprintedUse(use)?.answer(to: claim) ?? .alreadyUsed
        default: nil
        }
    }

    /// What the key of a token is called.
    func name(of key: ReplayKey) -> String {
        begin(of: shard(of: key)) + key.half[0].hexadecimal + key.half[1].hexadecimal
    }

    /// The key of a shard's marker.
    func marker(of shard: RedisShard) -> String { begin(of: shard) + "since" }

    /// The command that writes a meaningless key of a shard, which lasts a second, to see whether the server would take
    /// a claim.
    func probe(_ shard: RedisShard) -> RedisCommand { ["SET", begin(of: shard) + Self.probeName, "1", "PX", "1000"] }

    /// Whether a key is one that ``probe(_:)`` writes.
    func isProbe(_ key: String) -> Bool { key.hasSuffix(":" + Self.probeName) }

    private static let probeName = "probe"

    /// Replaces a shard's marker, if it still is what was read. A marker where there was none begins later by the time
    /// that has passed since the server told its clock.
    ///
    /// The server's reply is the marker that was written. It compares and writes in one step, however long the command
    /// was on its way. A plain `SET` that comes late could give a store that was emptied and has begun again the past
    /// of the one before.
    ///
    /// - Parameters:
    ///   - old: the text that was read; `nil` if there was none.
    ///   - time: the server's clock when the marker was read.
    func replaceMarker(
        of shard: RedisShard, _ old: String?, by new: (since: Timestamp, rest: String), at time: Timestamp
    ) -> RedisCommand {
        [
            "EVAL", Self.replacement, "1", marker(of: shard), old ?? "", String(new.since.milliseconds), new.rest,
            String(time.milliseconds),
        ]
    }

    private static let replacement = """
        local old = redis.call('GET', KEYS[1])
        if (old or '') ~= ARGV[1] then return 'changed' end
        local since = tonumber(ARGV[2])
        if not old then
          local time = redis.call('TIME')
          since = since + math.max(0, time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[4]))
        end
        local new = string.format('%.0f ', since) .. ARGV[3]
        redis.call('SET', KEYS[1], new)
        return new
        """

    /// The glob pattern that matches all keys of this store, for `SCAN`.
    var pattern: String {
        prefix.map { "*?[]\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + ":{??}:*"
    }

    private func begin(of shard: RedisShard) -> String { prefix + ":{" + shard.tag + "}:" }
}

/// The configuration and the key names that all rounds of a store use, shared rather than copied.
final class RedisTerms: Sendable {
    let configuration: RedisConfiguration
    let keys: RedisKeys

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
        keys = RedisKeys(configuration)
    }

    /// The end of an error about a server that was asked and did not answer in time.
    var silence: String { "did not answer within \(configuration.timeout.clampedMilliseconds) ms" }

    /// The end of an error about a server that did not answer anything in time on a new connection.
    var silenceAtFirst: String { silence + (configuration.isTLS ? "; does it speak TLS on that port?" : "") }
}

/// What the store needs of the server's clock, which decides when a key is forgotten.
enum RedisClock {
    private static let largestSkew = VerificationPolicy.largestClockSkew.clampedMilliseconds

    /// How long after a token's expiry its key is kept: as long as a policy may accept it, and as much again for a
    /// server whose clock is ahead of ours.
    static let keptMilliseconds = 2 * largestSkew

    /// The server's clock, from the reply to `TIME`: seconds and microseconds.
    static func time(_ reply: RedisReply) -> Timestamp? {
        guard let parts = reply.array?.map({ $0.text.flatMap(Int64.init) }), parts.count == 2, let seconds = parts[0],
            let microseconds = parts[1], (0...Int64.max / 2000).contains(seconds)
        else { return nil }
        return Timestamp(milliseconds: seconds * 1000 + microseconds / 1000)
    }

    /// Why the server cannot be relied on at `now`: it forgets keys that a policy may still accept.
    static func problem(server: Timestamp, now: Timestamp) -> String? {
        let ahead = server.milliseconds &- now.milliseconds
        guard ahead > largestSkew else { return nil }
        return "has a clock \(ahead / 1000) s ahead of ours, and forgets too early; set one of them right"
    }
}

/// One moment by two clocks: the monotonic one, by which deadlines go, and the host's time of day.
package struct RedisMoment {
    let instant: ContinuousClock.Instant
    let time: Timestamp

    package init(instant: ContinuousClock.Instant, time: Timestamp) {
        self.instant = instant
        self.time = time
    }

    static var now: RedisMoment { RedisMoment(instant: .now, time: .now) }
}
