internal import MediaToken

/// A connection that the store has made: the server that it leads to, and a number that no other connection has.
package struct RedisLink: Hashable, Sendable {
    package let address: RedisAddress
    let number: Int
}

/// The asker to which the replies of a batch of commands belong.
enum RedisAsker: Equatable {
    /// The first commands on a connection, which ask for the server's facts.
    case greeting
    /// A second look at a server's facts; no claim waits for it.
    case look
    /// The search for the owners of a cluster's slots, by the number of its question.
    case slotSearch(Int)
    /// A part of a group's round.
    case part(group: Int, part: Int)
    /// Commands that an operator's tool asks for.
    case errand(Int)
}

/// Commands that were sent together, and the replies to them so far.
struct RedisBatch {
    /// One asker of the commands, and where among the replies those are that it waits for.
    struct Member {
        let asker: RedisAsker
        let replies: [Int]
    }

    let members: [Member]
    /// The number of replies that will come.
    let count: Int
    /// Where the replies to the commands of ``RedisServerFacts`` are, not counting replies to `ASKING`.
    var facts: Range<Int> = 0..<0
    /// Whether each command follows an `ASKING`, which is answered too.
    var isAsking = false
    /// The number of replicas that the last command waits for, during which the server carries out nothing more on the
    /// connection; 0 if it is not a `WAIT`.
    var awaited = 0
    let askedAt: ContinuousClock.Instant
    /// What the server had reported when the commands were sent.
    let factsBefore: RedisServerFacts?
    var replies: [RedisReply] = []

    var isConfirming: Bool { awaited > 0 }
}

/// One connection to a server, as a value: whether it has been greeted, and the replies that are due on it.
struct RedisLane {
    let link: RedisLink
    /// The time by which the greeting must be answered; `nil` once it is.
    fileprivate(set) var greetingDeadline: ContinuousClock.Instant?
    /// The batches that were sent, in that order. Those before ``firstBatch`` have been answered.
    private var batches: [RedisBatch?] = []
    private var firstBatch = 0
    private var confirming = 0

    init(_ link: RedisLink, greetingDeadline: ContinuousClock.Instant) {
        self.link = link
        self.greetingDeadline = greetingDeadline
    }

    /// Whether commands that are sent now are carried out as soon as they arrive.
    var isFree: Bool { greetingDeadline == nil && confirming == 0 }

    /// Whether a reply is due.
    var awaitsReply: Bool { firstBatch < batches.count }

    /// The batches that are not answered.
    var unanswered: [RedisBatch] { batches[firstBatch...].compactMap(\.self) }

    mutating func expect(_ batch: RedisBatch) {
        batches.append(batch)
        confirming += batch.isConfirming ? 1 : 0
    }

    /// Adds a reply, which must be due, to the oldest batch. Returns the batch if the reply was its last.
    mutating func add(_ reply: RedisReply) -> RedisBatch? {
        batches[firstBatch]?.replies.append(reply)
        guard let batch = batches[firstBatch], batch.replies.count == batch.count else { return nil }
        batches[firstBatch] = nil
        firstBatch += 1
        confirming -= batch.isConfirming ? 1 : 0
        // The answered ones are removed together, so that each costs the same however many are in flight.
        if firstBatch * 2 > batches.count {
            batches.removeFirst(firstBatch)
            firstBatch = 0
        }
        return batch
    }
}

/// One server, as a value: the connections to it, and what waits for one.
///
/// A server has one connection, and more only while claims on each of them wait for replicas. What comes while all of
/// them wait is sent together with the next free one.
///
/// A server that could not be reached is left alone for a moment, and what is to be sent to it meanwhile fails at once:
/// no claim waits for a server that is known to be away, and none floods it.
struct RedisNode {
    typealias Instant = ContinuousClock.Instant

    /// What becomes of commands for the server.
    enum Way {
        /// They can be sent, on the connection with this position.
        case free(Int)
        /// They have to wait for a connection. One is to be made if none is on its way and more may be had.
        case busy(makesConnection: Bool)
        /// The last attempt to connect failed, and the next is not due yet.
        case resting(ReplayStoreError)
    }

    let address: RedisAddress
    private(set) var lanes: [RedisLane] = []
    /// The last attempt to connect, if it failed, and when the next may be made.
    private(set) var failure: (error: ReplayStoreError, until: Instant)?
    /// Askers whose commands are sent once a connection is free.
    private var waiting: [RedisAsker] = []
    /// The server's last report, on any connection.
    private(set) var lastFacts: RedisServerFacts?
    /// How long the last commands took whose claims waited for replicas.
    private(set) var confirmationTime = Duration.zero
    private var pause = RedisNode.shortestPause

    /// Enough for a lone claim to find a free one while others wait for replicas.
    private static let mostLanes = 4
    private static let shortestPause = Duration.milliseconds(10)
    /// Well below the second within which claims have to work again after a server's return.
    private static let longestPause = Duration.milliseconds(320)

    init(_ address: RedisAddress) {
        self.address = address
    }

    /// The facts that the server reported last; `nil` if it cannot be asked now.
    var facts: RedisServerFacts? { lanes.contains { $0.greetingDeadline == nil } ? lastFacts : nil }

    func way(at now: Instant) -> Way {
        if let lane = lanes.firstIndex(where: \.isFree) { return .free(lane) }
        if let failure, failure.until > now {
            return lanes.isEmpty ? .resting(failure.error) : .busy(makesConnection: false)
        }
        let isConnecting = lanes.contains { $0.greetingDeadline != nil }
        return .busy(makesConnection: !isConnecting && lanes.count < Self.mostLanes)
    }

    mutating func wait(_ asker: RedisAsker) {
        waiting.append(asker)
    }

    /// The askers that waited for a connection; nobody waits afterwards.
    mutating func takeWaiting() -> [RedisAsker] {
        defer { waiting = [] }
        return waiting
    }

    // MARK: Connections

    func lane(of link: RedisLink) -> Int? { lanes.firstIndex { $0.link == link } }

    /// Begins a connection. Returns its position.
    mutating func greet(on link: RedisLink, until: Instant) -> Int {
        lanes.append(RedisLane(link, greetingDeadline: until))
        return lanes.count - 1
    }

    /// Ends the greeting: commands can be sent on the connection.
    mutating func welcome(_ lane: Int) {
        lanes[lane].greetingDeadline = nil
        failure = nil
        pause = Self.shortestPause
    }

    /// Forgets a connection. Returns the batches that get no reply any more.
    mutating func remove(_ lane: Int) -> [RedisBatch] { lanes.remove(at: lane).unanswered }

    /// Lets no further connection be made for a moment.
    mutating func rest(after error: ReplayStoreError, at now: Instant) {
        failure = (error, now + pause)
        pause = min(pause * 2, Self.longestPause)
    }

    mutating func expect(_ batch: RedisBatch, on lane: Int) {
        lanes[lane].expect(batch)
    }

    /// Adds a reply, which must be due, to a connection's oldest batch. Returns the batch if the reply was its last.
    mutating func add(_ reply: RedisReply, on lane: Int, at now: Instant) -> RedisBatch? {
        let batch = lanes[lane].add(reply)
        // The time of a WAIT that ended in vain is no more than it was given.
        if let batch, batch.isConfirming, case .integer(let count)? = batch.replies.last, count >= batch.awaited {
            confirmationTime = now - batch.askedAt
        }
        return batch
    }

    /// Reads the server's replies to the commands of ``RedisServerFacts``, and remembers them, so that the next ones
    /// show whether counts were set back. The caller decides whether the server is fit for claims.
    ///
    /// - Parameter loss: the error for replies that were lost.
    mutating func readFacts(
        of batch: RedisBatch, _ replies: ArraySlice<RedisReply>, at moment: RedisMoment, loss: ReplayStoreError,
        _ configuration: RedisConfiguration
    ) -> Result<RedisServerFacts, ReplayStoreError> {
        if case .error(let error) = replies.first { return .failure(error.storeError(at: address)) }
        // What came of a report that broke off may not show what was lost.
        if replies.isEmpty || replies.contains(.lost) { return .failure(loss) }
        guard
            var facts = RedisServerFacts(
                replies, askedAt: batch.askedAt, at: moment, after: batch.factsBefore, configuration)
        else { return .failure(.unavailable("\(address) does not answer INFO as Redis does")) }
        // Replies on different connections may come in another order than that in which the server was asked.
        if var last = lastFacts {
            facts.join(last)
            last.join(facts)
            lastFacts = facts.isOlder(than: last) ? last : facts
        } else {
            lastFacts = facts
        }
        return .success(facts)
    }
}
