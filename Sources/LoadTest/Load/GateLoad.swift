internal import Basics
internal import EventLoops
internal import HTTP

/// Asks a gate one kind of question, with each token once, over several connections on one thread.
package final class GateLoad {
    package struct Settings: Sendable {
        package var address = "127.0.0.1"
        package var port: UInt16 = 80
        package var connections = 32
        package var seconds = 10.0
        /// The number of requests per second, each sent when it is due, whether or not earlier ones were answered. If
        /// `nil`, each connection sends its next request as soon as the last one is answered.
        package var rate: Double?

        package init() {}
    }

    /// The longest time between two checks whether the test has to end.
    private static let longestPauseMicroseconds = 10_000

    private let loop: EventLoop
    private let settings: Settings
    private let question: GateQuestion
    private let tokens: TokenQueue?
    /// The number of requests that are due before time is up, or for which there are captured tokens.
    private let mostRequests: Int
    private let clients: [HTTPClient]
    private var idle: [HTTPClient]
    private var figures: GateFigures
    private var begin: UInt64 = 0
    private var lastAnswer: UInt64 = 0
    private var sent = 0
    private var underWay = 0
    private var isEnding = false
    private var ticker: LoopTimer?

    /// - Parameter tokens: The tokens to send; `nil` if the question needs none.
    /// - Throws: An error if the process cannot open more descriptors.
    package init(_ question: GateQuestion, _ tokens: TokenQueue?, _ settings: Settings) throws {
        let loop = try EventLoop(hasPreciseTimers: true)
        (self.loop, self.settings, self.question, self.tokens) = (loop, settings, question, tokens)
        let due = settings.rate.map { Int(($0 * settings.seconds).rounded(.up)) } ?? .max
        mostRequests = tokens.map { $0.isSigning ? due : min(due, $0.count) } ?? due
        clients = (0..<settings.connections).map { _ in
            HTTPClient(loop, address: settings.address, port: settings.port)
        }
        idle = clients
        figures = GateFigures(seconds: settings.seconds)
    }

    /// Runs until time is up, no token is left, or `isCancelled` is true; then waits for outstanding answers.
    ///
    /// - Parameter progress: Called with the elapsed part of the time, from 0 to 1.
    package func run(isCancelled: () -> Bool, progress: (Double) -> Void) -> GateFigures {
        begin = MonotonicTime.nanoseconds
        lastAnswer = begin
        let processor = ProcessorTime.ofThisThread
        tick()
        loop.run {
            let elapsed = seconds(MonotonicTime.nanoseconds - begin)
            progress(min(1, elapsed / settings.seconds))
            if !isEnding, elapsed >= settings.seconds { end(after: elapsed) }
            if sent == mostRequests, tokens?.isSigning == false { isEnding = true }
            if isCancelled() || isUnreachable { isEnding = true }
            return isEnding && underWay == 0
        }
        ticker = nil
        progress(1)
        // One that never comes would make all others seem slow.
        figures.end(after: seconds(lastAnswer - begin), .from(processor, to: .ofThisThread))
        return figures
    }

    /// Stops sending. Requests that are due but have no free connection count as unsent: a stalled gate delayed them.
    private func end(after elapsed: Double) {
        isEnding = true
        guard let rate = settings.rate, idle.isEmpty else { return }
        figures.unsent = max(0, min(mostRequests, Int(elapsed * rate)) - sent)
    }

    private func tick() {
        sendWhatIsDue()
        ticker = isEnding ? nil : loop.timer(afterMicroseconds: microsecondsToNextRequest) { [unowned self] in tick() }
    }

    /// Whether the gate seems unreachable, so that going on would only consume tokens.
    private var isUnreachable: Bool { figures.answers == 0 && figures.unanswered >= settings.connections }

    private func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }

    private func sendWhatIsDue() {
        while !isEnding, !isUnreachable, sent < mostRequests, !idle.isEmpty, let due = dueTime {
            let item = tokens?.take()
            guard item != nil || tokens == nil else { return endWithoutTokens() }
            guard let client = idle.popLast() else { return }
            send(item, by: client, due: due)
        }
    }

    /// Ends the test when no token is left, because requests that wait for one would measure how fast tokens are
    /// signed.
    private func endWithoutTokens() {
        isEnding = true
        if tokens?.isSigning == true { figures.ranOutAfter = seconds(MonotonicTime.nanoseconds - begin) }
    }

    /// The time at which the next request is due; `nil` if it is not due yet.
    private var dueTime: UInt64? {
        let now = MonotonicTime.nanoseconds
        guard let next = nextDueTime else { return now }
        return next <= now ? next : nil
    }

    /// The time at which the next request is or was due; `nil` if requests are not sent at a fixed rate.
    private var nextDueTime: UInt64? { settings.rate.map { begin + UInt64(Double(sent) / $0 * 1e9) } }

    private var microsecondsToNextRequest: Int {
        guard let next = nextDueTime, !idle.isEmpty else { return Self.longestPauseMicroseconds }
        let pause = Int(next) - Int(MonotonicTime.nanoseconds)
        return min(max(1, pause / 1000), Self.longestPauseMicroseconds)
    }

    private func send(_ item: TokenCorpus.Item?, by client: HTTPClient, due: UInt64) {
        sent += 1
        underWay += 1
        let request = question.request(with: item)
        client.send(request.target, headers: request.headers, body: request.body) { [unowned self] answer in
            let now = MonotonicTime.nanoseconds
            underWay -= 1
            if answer != nil { lastAnswer = now }
            figures.count(answer, nanoseconds: now - due, at: seconds(now - begin))
            idle.append(client)
            // The client may report a failure before `send` has returned, so the ticker sends the next request.
            guard answer != nil else { return }
            // The ticker may be sleeping because no connection was free.
            if idle.count == 1, !isEnding { tick() }
        }
    }
}
