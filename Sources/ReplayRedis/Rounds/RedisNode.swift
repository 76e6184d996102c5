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

/// One server, as a value: the state of the connection to it, and the replies that are due on that connection.
///
/// A server that could not be reached is left alone for a moment, and what is to be sent to it meanwhile fails at once:
/// no claim waits for a server that is known to be away, and none floods it.
struct RedisNode {
    typealias Instant = ContinuousClock.Instant

    enum State {
        case unconnected
        /// The connection is being made, and its greeting is not answered yet.
        case greeting(RedisLink, until: Instant)
        /// Commands can be sent. The facts are the latest that the server reported.
        case ready(RedisLink, RedisServerFacts)
        /// The last attempt failed; the next may be made when the time has come.
        case resting(ReplayStoreError, until: Instant)
    }

    /// Commands that were sent together, and the replies to them so far.
    struct Batch {
        let asker: RedisAsker
        /// The number of replies that will come.
        let count: Int
        /// Where the replies to the commands of ``RedisServerFacts`` are, not counting replies to `ASKING`.
        let facts: Range<Int>
        /// Whether each command follows an `ASKING`, which is answered too.
        let isAsking: Bool
        let askedAt: Instant
        var replies: [RedisReply] = []
    }

    let address: RedisAddress
    private(set) var state = State.unconnected
    /// The batches that were sent, in that order. Those before ``firstBatch`` have been answered.
    private var batches: [Batch?] = []
    private var firstBatch = 0
    /// Askers whose commands are sent once the greeting is answered.
    private var waiting: [RedisAsker] = []
    /// The server's last report, on this connection or on an earlier one.
    private var lastFacts: RedisServerFacts?
    private var pause = RedisNode.shortestPause

    private static let shortestPause = Duration.milliseconds(10)
    /// Well below the second within which claims have to work again after a server's return.
    private static let longestPause = Duration.milliseconds(320)

    init(_ address: RedisAddress) {
        self.address = address
    }

    /// The connection; `nil` if there is none.
    var link: RedisLink? {
        switch state {
        case .greeting(let link, _), .ready(let link, _): link
        case .unconnected, .resting: nil
        }
    }

    /// The facts that the server reported last; `nil` if it cannot be asked now.
    var facts: RedisServerFacts? {
        if case .ready(_, let facts) = state { facts } else { nil }
    }

    /// The time by which the greeting must be answered; `nil` if none is under way.
    var greetingDeadline: Instant? {
        if case .greeting(_, let until) = state { until } else { nil }
    }

    mutating func wait(_ asker: RedisAsker) {
        waiting.append(asker)
    }

    /// The askers that waited for the greeting; nobody waits afterwards.
    mutating func takeWaiting() -> [RedisAsker] {
        defer { waiting = [] }
        return waiting
    }

    /// Begins a connection.
    mutating func greet(on link: RedisLink, until: Instant) {
        state = .greeting(link, until: until)
    }

    /// Ends the greeting: the server can be asked.
    mutating func welcome(_ facts: RedisServerFacts) {
        guard let link else { return }
        state = .ready(link, facts)
        pause = Self.shortestPause
    }

    /// Leaves the server alone for a moment. Returns the batches that get no reply any more.
    mutating func rest(after error: ReplayStoreError, at now: Instant) -> [Batch] {
        state = .resting(error, until: now + pause)
        pause = min(pause * 2, Self.longestPause)
        return takeBatches()
    }

    /// Records that an established connection ended, so that the next command makes another. Returns the batches that
    /// get no reply any more.
    mutating func disconnect() -> [Batch] {
        state = .unconnected
        return takeBatches()
    }

    private mutating func takeBatches() -> [Batch] {
        defer { (batches, firstBatch) = ([], 0) }
        return batches[firstBatch...].compactMap(\.self)
    }

    /// Whether a reply is due.
    var awaitsReply: Bool { firstBatch < batches.count }

    mutating func expect(_ batch: Batch) {
        batches.append(batch)
    }

    /// Adds a reply, which must be due, to the oldest batch. Returns the batch if the reply was its last.
    mutating func add(_ reply: RedisReply) -> Batch? {
        batches[firstBatch]?.replies.append(reply)
        guard let batch = batches[firstBatch], batch.replies.count == batch.count else { return nil }
        batches[firstBatch] = nil
        firstBatch += 1
        // The answered ones are removed together, so that each costs the same however many are in flight.
        if firstBatch * 2 > batches.count {
            batches.removeFirst(firstBatch)
            firstBatch = 0
        }
        return batch
    }

    /// Reads the server's replies to the commands of ``RedisServerFacts``, and remembers them, so that the next ones show
    /// whether counts were set back. The caller decides whether the server is fit for claims.
    ///
    /// - Parameters:
    ///   - askedAt: a time before the commands were sent.
    ///   - loss: the error for replies that were lost.
    mutating func read(
        _ replies: ArraySlice<RedisReply>, askedAt: Instant, at moment: RedisMoment, loss: ReplayStoreError,
        _ configuration: RedisConfiguration
    ) -> Result<RedisServerFacts, ReplayStoreError> {
        if case .error(let error) = replies.first { return .failure(error.storeError(at: address)) }
        // What came of a report that broke off may not show what was lost.
        if replies.isEmpty || replies.contains(.lost) { return .failure(loss) }
        guard
            let facts = RedisServerFacts(replies, askedAt: askedAt, at: moment, after: lastFacts, configuration)
        else { return .failure(.unavailable("\(address) does not answer INFO as Redis does")) }
        lastFacts = facts
        if case .ready(let link, _) = state { state = .ready(link, facts) }
        return .success(facts)
    }
}
