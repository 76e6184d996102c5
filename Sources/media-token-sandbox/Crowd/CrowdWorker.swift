internal import Basics
internal import CommandShell
internal import EventLoops
internal import HTTP
internal import LoadTest
internal import Sandbox
internal import Synchronization

/// A kind of call, whose latencies are reported together.
enum CrowdStep: String, CaseIterable {
    case configure, login, authorize, play, stream, logout
}

/// The servers that a crowd calls, what it plays, and how many connections it may have.
struct CrowdSettings: Sendable {
    var service: ServerURL
    var gate: ServerURL
    /// The server of the stream; `nil` if none is played.
    var stream: ServerURL?
    var requestor = "MML"
    var resource = "TNT"
    var path = "/live/tnt/index.m3u8"
    var hasRetryWindow = false
    /// The most connections of each worker to each server.
    var connections = 64
    /// What the names of devices and viewers begin with, so that two runs against one sandbox have different ones.
    var nonce = ""
}

/// What workers have measured.
struct CrowdFigures: Sendable {
    static let mostTurns = 200

    var tally = CrowdTally()
    var latencies: [CrowdStep: LatencyHistogram] = [:]
    /// The latencies of plays by the time of their answers.
    var turns: [LatencyHistogram]
    /// The devices that arrived, by time.
    var arrivals: [Int]
    let turnSeconds: Double
    /// The time until the last party was done, in seconds.
    var seconds = 0.0
    /// The processor time of the workers.
    var processor = ProcessorTime()

    init(seconds: Double) {
        turnSeconds = max(0.2, seconds / Double(Self.mostTurns))
        turns = Array(repeating: LatencyHistogram(), count: Int((seconds / turnSeconds).rounded(.up)) + 1)
        arrivals = Array(repeating: 0, count: turns.count)
    }

    mutating func add(_ other: CrowdFigures) {
        tally.add(other.tally)
        latencies.merge(other.latencies) { $0.adding($1) }
        processor.add(other.processor)
        for index in turns.indices {
            turns[index].add(other.turns[index])
            arrivals[index] += other.arrivals[index]
        }
        seconds = max(seconds, other.seconds)
    }

    /// The number of the interval that a time is in; later times count in the last interval.
    fileprivate func turn(_ seconds: Double) -> Int { min(turns.count - 1, Int(seconds / turnSeconds)) }
}

/// The devices that have come to their end, counted by all workers.
final class CrowdProgress: Sendable {
    let devices = Atomic<Int>(0)
}

/// Plays a part of a crowd, on one thread.
final class CrowdWorker {
    let settings: CrowdSettings
    /// The most bytes of a segment of the stream.
    private static let longestSegment = 64 << 20
    private let plan: CrowdPlan
    private let loop: EventLoop
    private let pools: (service: ConnectionPool, gate: ConnectionPool, stream: ConnectionPool)
    private let progress: CrowdProgress
    private var figures: CrowdFigures
    private var begin: UInt64 = 0
    /// The blocks that are left, and the parties of the current one.
    private var blocks: StrideTo<Int>.Iterator
    private var parties: ArraySlice<CrowdParty> = []
    private var underWay = 0
    private var arrival: LoopTimer?
    private var wake: LoopTimer?
    private var pauses: [Int: LoopTimer] = [:]
    private var lastPause = 0

    /// - Parameters:
    ///   - number: The number of the worker, from 0; each plays every `workers`th block.
    init(
        _ plan: CrowdPlan, _ settings: CrowdSettings, number: Int = 0, of workers: Int = 1, _ progress: CrowdProgress
    ) throws {
        let loop = try EventLoop(hasPreciseTimers: true)
        func pool(_ server: ServerURL, _ bodyLimit: Int = HTTPAnswerReader.usualLimit) -> ConnectionPool {
            ConnectionPool(loop, server, most: settings.connections, bodyLimit: bodyLimit)
        }
        (self.plan, self.settings, self.loop, self.progress) = (plan, settings, loop, progress)
        pools = (
            pool(settings.service), pool(settings.gate), pool(settings.stream ?? settings.gate, Self.longestSegment)
        )
        blocks = stride(from: number, to: plan.blocks, by: workers).makeIterator()
        figures = CrowdFigures(seconds: plan.seconds)
    }

    /// Runs until the last party is done, or the program is interrupted; parties that are under way then are not
    /// counted.
    func run() -> CrowdFigures {
        begin = MonotonicTime.nanoseconds
        let processor = ProcessorTime.ofThisThread
        receiveArrivals()
        wakeForInterruption()
        loop.run { Interruption.isRequested || (arrival == nil && underWay == 0) }
        (arrival, wake, pauses) = (nil, nil, [:])
        figures.seconds = elapsed
        figures.processor = .from(processor, to: .ofThisThread)
        return figures
    }

    /// Has the loop look now and then whether the program is interrupted, also while no answer comes.
    private func wakeForInterruption() {
        wake = loop.timer(afterMilliseconds: 200) { [unowned self] in wakeForInterruption() }
    }

    private var elapsed: Double { Double(MonotonicTime.nanoseconds - begin) / 1e9 }

    /// Starts the parties that have arrived, and comes back when the next one does.
    private func receiveArrivals() {
        arrival = nil
        while let party = nextParty {
            let wait = party.arrival - elapsed
            guard wait <= 0 else {
                arrival = loop.timer(afterMicroseconds: min(100_000, Int(wait * 1e6) + 1)) { [unowned self] in
                    receiveArrivals()
                }
                return
            }
            parties.removeFirst()
            underWay += 1
            figures.arrivals[figures.turn(elapsed)] += party.story.devices
            PartyRun(party, self).start()
        }
    }

    private var nextParty: CrowdParty? {
        if parties.isEmpty { parties = blocks.next().map { plan.parties(inBlock: $0) }?[...] ?? [] }
        return parties.first
    }

    // MARK: For parties

    /// Sends a request to the server that the step belongs to: a POST if it has a body. The time that it waits for a
    /// connection counts.
    func send(
        _ step: CrowdStep, _ target: String, headers: [(name: String, value: String)] = [], body: String? = nil,
        _ completion: @escaping (HTTPClient.Answer?) -> Void
    ) {
        let pool = step == .play ? pools.gate : step == .stream ? pools.stream : pools.service
        let due = MonotonicTime.nanoseconds
        pool.send(target, headers: headers, body: body.map { Array($0.utf8) }) { [unowned self] answer in
            // How long no answer took says nothing of the server's speed.
            if answer != nil {
                let nanoseconds = MonotonicTime.nanoseconds - due
                figures.latencies[step, default: LatencyHistogram()].record(nanoseconds)
                if step == .play { figures.turns[figures.turn(elapsed)].record(nanoseconds) }
            }
            completion(answer)
        }
    }

    func pause(milliseconds: Int, _ then: @escaping () -> Void) {
        lastPause += 1
        pauses[lastPause] = loop.timer(afterMilliseconds: milliseconds) { [unowned self, lastPause] in
            pauses[lastPause] = nil
            then()
        }
    }

    /// Compares a party that has come to its end with what had to happen.
    func count(_ party: CrowdParty, _ seen: CrowdOutcome, _ acceptances: [Int]) {
        let expected = party.story.expectation(
            hasRetryWindow: settings.hasRetryWindow, segments: settings.stream.map { _ in party.segments })
        let most = party.story.acceptancesPerToken(hasRetryWindow: settings.hasRetryWindow)
        figures.tally.count(party, expected: expected, seen: seen, acceptances: acceptances, mostAcceptances: most)
        progress.devices.add(party.story.devices, ordering: .relaxed)
        underWay -= 1
    }
}
