internal import EventLoops
internal import HTTPCalling
internal import HTTPMessages
internal import TextEncodings
internal import Threading

/// Asks a gate about each token of a corpus once, over several connections on one thread.
package final class GateLoad {
    package struct Settings: Sendable {
        package var address = "127.0.0.1"
        package var port: UInt16 = 80
        package var path = "/v1/verify"
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
    private let items: [TokenCorpus.Item]
    private let clients: [HTTPClient]
    private var idle: [HTTPClient]
    private var figures: GateFigures
    private var begin: UInt64 = 0
    private var sent = 0
    private var underWay = 0
    private var isEnding = false
    private var ticker: LoopTimer?

    /// - Throws: An error if the process cannot open more descriptors.
    package init(_ corpus: TokenCorpus, _ settings: Settings) throws {
        let loop = try EventLoop(hasPreciseTimers: true)
        (self.loop, self.settings, items) = (loop, settings, corpus.items)
        clients = (0..<settings.connections).map { _ in
            HTTPClient(loop, address: settings.address, port: settings.port)
        }
        idle = clients
        figures = GateFigures(seconds: settings.seconds)
    }

    /// Runs until time is up, all tokens are sent, or `isCancelled` is true; then waits for outstanding answers.
    ///
    /// - Parameter progress: Called with the elapsed part of the time, from 0 to 1.
    package func run(isCancelled: () -> Bool, progress: (Double) -> Void) -> GateFigures {
        begin = MonotonicTime.nanoseconds
        tick()
        loop.run {
            let elapsed = seconds(MonotonicTime.nanoseconds - begin)
            progress(min(1, elapsed / settings.seconds))
            if !isEnding, elapsed >= settings.seconds { end(after: elapsed) }
            if sent == items.count || isCancelled() || isUnreachable { isEnding = true }
            return isEnding && underWay == 0
        }
        ticker = nil
        progress(1)
        figures.end(after: seconds(MonotonicTime.nanoseconds - begin))
        return figures
    }

    /// Stops sending. Requests that are due but have no free connection count as unsent: a stalled gate delayed them.
    private func end(after elapsed: Double) {
        isEnding = true
        guard let rate = settings.rate, idle.isEmpty else { return }
        figures.unsent = max(0, min(items.count, Int(elapsed * rate)) - sent)
    }

    private func tick() {
        sendWhatIsDue()
        ticker = isEnding ? nil : loop.timer(afterMicroseconds: microsecondsToNextRequest) { [unowned self] in tick() }
    }

    /// Whether the gate seems unreachable, so that going on would only consume tokens.
    private var isUnreachable: Bool { figures.answers == 0 && figures.unanswered >= settings.connections }

    private func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }

    private func sendWhatIsDue() {
        while !isEnding, !isUnreachable, sent < items.count, let due = dueTime, let client = idle.popLast() {
            send(items[sent], by: client, due: due)
        }
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

    private func send(_ item: TokenCorpus.Item, by client: HTTPClient, due: UInt64) {
        sent += 1
        underWay += 1
        client.send(target(item), headers: [("Content-Type", "text/plain")], body: item.body) {
            [unowned self] answer in
            let now = MonotonicTime.nanoseconds
            underWay -= 1
            figures.count(answer, nanoseconds: now - due, at: seconds(now - begin))
            idle.append(client)
            // The client may report a failure before `send` has returned, so the ticker sends the next request.
            guard answer != nil else { return }
            // The ticker may be sleeping because no connection was free.
            if idle.count == 1, !isEnding { tick() }
        }
    }

    private func target(_ item: TokenCorpus.Item) -> String {
        "\(settings.path)?requestor=\(PercentEncoding.encode(item.requestor))"
            + "&resource=\(PercentEncoding.encode(item.resource))"
    }
}
