package import EventLoops
package import MediaToken

/// One member of a Redis store, a server or a cluster, as an event loop uses it: one connection to each server, up to
/// four where claims wait for replicas, and any number of claims in flight.
///
/// It carries out what ``RedisRounds`` decides. It belongs to the loop's thread.
package final class RedisReplayClient {
    let configuration: RedisConfiguration
    let keys: RedisKeys
    private let loop: EventLoop
    private let tls: TLSClient?
    private var rounds: RedisRounds
    private var connections: [RedisLink: RedisConnection] = [:]
    private var callers: [Int: ([Result<ReplayAnswer, ReplayStoreError>]) -> Void] = [:]
    private var errands: [Int: (Result<[RedisReply], ReplayStoreError>) -> Void] = [:]
    private var timer: LoopTimer?
    private var timerEnd: ContinuousClock.Instant?

    package init(_ configuration: RedisConfiguration, on loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
        keys = RedisKeys(configuration)
        tls = configuration.tls.map { tls in
            TLSClient(authorities: tls.authorities, certificate: tls.certificate, key: tls.key, name: tls.name)
        }
        rounds = RedisRounds(configuration)
    }

    /// Decides the claims of a group, in order; see `ReplayStore`. Calls `completion` once, with an answer for each,
    /// within the deadline of the configuration; it may be before this returns.
    package func claim(
        _ group: [ReplayClaim], at now: Timestamp,
        _ completion: @escaping ([Result<ReplayAnswer, ReplayStoreError>]) -> Void
    ) {
        callers[rounds.claim(group, at: now, .now)] = completion
        carryOut()
    }

    /// Connects to every server, checks that claims may be accepted on it now, and sees to it that each shard has a
    /// marker, so that the store remembers from now on.
    ///
    /// - Parameters:
    ///   - timeouts: the time limit, as a multiple of the configuration's timeout.
    ///   - looksOnly: whether no marker is set.
    ///   - completion: called with whether each shard has a marker.
    package func open(
        at now: Timestamp, timeouts: Int = 1, looksOnly: Bool = false,
        _ completion: @escaping (Result<Bool, ReplayStoreError>) -> Void
    ) {
        let errand = rounds.open(at: now, timeouts: timeouts, looksOnly: looksOnly, .now)
        errands[errand] = { completion($0.map(\.isEmpty)) }
        carryOut()
    }

    /// Why the last attempt to connect failed; `nil` once a connection was made.
    var failure: ReplayStoreError? { rounds.servers.nodes.lazy.compactMap(\.failure?.error).first }

    /// The servers of the store, and the shards of each, as far as they are known.
    var servers: RedisServers { rounds.servers }

    /// Learns the owners of a cluster's slots.
    func learnSlots(_ completion: @escaping (Result<[RedisReply], ReplayStoreError>) -> Void) {
        errands[rounds.learnSlots(.now)] = completion
        carryOut()
    }

    /// Sends commands to the server with a number.
    func ask(
        _ commands: [RedisCommand], of node: Int,
        _ completion: @escaping (Result<[RedisReply], ReplayStoreError>) -> Void
    ) {
        errands[rounds.ask(commands, of: node, .now)] = completion
        carryOut()
    }

    /// Carries out what was decided. A caller that is answered may ask again before this returns.
    private func carryOut() {
        while let action = rounds.nextAction() { carryOut(action) }
        guard rounds.alarm != timerEnd else { return }
        timerEnd = rounds.alarm
        timer = rounds.alarm.map { alarm in
            let milliseconds = max(0, (alarm - .now).clampedMilliseconds) + 1
            return loop.timer(afterMilliseconds: Int(milliseconds)) { [unowned self] in
                timerEnd = nil
                rounds.elapsed(.now)
                carryOut()
            }
        }
    }

    private func carryOut(_ action: RedisRounds.Action) {
        switch action {
        case .connect(let link): connect(link)
        case .send(let commands, let link): connections[link]?.send(commands)
        case .close(let link): connections.removeValue(forKey: link)?.close()
        case .answer(let group, let answers): callers.removeValue(forKey: group)?(answers)
        case .conclude(let errand, let outcome): errands.removeValue(forKey: errand)?(outcome)
        }
    }

    private func connect(_ link: RedisLink) {
        do throws(ReplayStoreError) {
            connections[link] = try RedisConnection(
                to: link.address, configuration, tls: tls, on: loop,
                received: { [unowned self] replies in
                    rounds.received(replies, on: link, .now)
                    carryOut()
                },
                ended: { [unowned self] error in
                    connections[link] = nil
                    rounds.ended(link, error, .now)
                    carryOut()
                })
        } catch {
            rounds.ended(link, error, .now)
        }
    }
}
