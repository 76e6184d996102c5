internal import EventLoop
internal import HTTPClient
internal import MediaToken
internal import Threading

/// Asks a gate about the tokens of a corpus, each once, over several connections on one thread.
package final class GateLoad {
    package struct Settings: Sendable {
        package var address = "127.0.0.1"
        package var port: UInt16 = 80
        package var path = "/v1/verify"
        package var connections = 32
        package var seconds = 10.0
        /// Requests a second, sent when they are due whatever became of those before; `nil` for one after the other on
        /// each connection, as fast as they are answered.
        package var rate: Double?

        package init() {}
    }

    /// How often it looks whether it is to end.
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

    /// - Throws: where the process may have no more descriptors.
    package init(_ corpus: TokenCorpus, _ settings: Settings) throws {
        let loop = try EventLoop(hasPreciseTimers: true)
        (self.loop, self.settings, items) = (loop, settings, corpus.items)
        clients = (0..<settings.connections).map { _ in
            HTTPClient(loop, address: settings.address, port: settings.port)
        }
        idle = clients
        figures = GateFigures(seconds: settings.seconds)
    }

    /// Runs until the time is over, the tokens are used up, or `isCancelled`; then waits for the answers that are due.
    ///
    /// - Parameter progress: called with the part that is done, from 0 to 1.
    package func run(isCancelled: () -> Bool, progress: (Double) -> Void) -> GateFigures {
        begin = MonotonicTime.nanoseconds
        var ticker: LoopTimer?
        func tick() {
            sendWhatIsDue()
            ticker = isEnding ? nil : loop.timer(afterMicroseconds: microsecondsToNextRequest, tick)
        }
        tick()
        loop.run {
            let elapsed = seconds(MonotonicTime.nanoseconds - begin)
            progress(min(1, elapsed / settings.seconds))
            if elapsed >= settings.seconds || sent == items.count || isCancelled() || isUnreachable { isEnding = true }
            return isEnding && underWay == 0
        }
        withExtendedLifetime(ticker) {}
        progress(1)
        figures.end(after: seconds(MonotonicTime.nanoseconds - begin))
        return figures
    }

    /// Nobody has answered any of the connections: to go on would only use tokens up.
    private var isUnreachable: Bool { figures.answers == 0 && figures.unanswered >= settings.connections }

    private func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }

    private func sendWhatIsDue() {
        while !isEnding, sent < items.count, let due = dueTime, let client = idle.popLast() {
            send(items[sent], by: client, due: due)
        }
    }

    /// When the next request is due, if it is.
    private var dueTime: UInt64? {
        let now = MonotonicTime.nanoseconds
        guard let next = nextDueTime else { return now }
        return next <= now ? next : nil
    }

    /// When the next request is or was due; `nil` where that is always.
    private var nextDueTime: UInt64? { settings.rate.map { begin + UInt64(Double(sent) / $0 * 1e9) } }

    private var microsecondsToNextRequest: Int {
        guard let next = nextDueTime, !idle.isEmpty else { return Self.longestPauseMicroseconds }
        let pause = Int(next) - Int(MonotonicTime.nanoseconds)
        return min(max(1, pause / 1000), Self.longestPauseMicroseconds)
    }

    private func send(_ item: TokenCorpus.Item, by client: HTTPClient, due: UInt64) {
        sent += 1
        underWay += 1
        client.send(target(item), headers: [("Content-Type", "text/plain")], body: item.token.bytes) { [self] answer in
            let now = MonotonicTime.nanoseconds
            underWay -= 1
            figures.count(answer, nanoseconds: now - due, at: seconds(now - begin))
            idle.append(client)
            sendWhatIsDue()
        }
    }

    private func target(_ item: TokenCorpus.Item) -> String {
        "\(settings.path)?requestor=\(Self.percentEncoded(item.requestor))&resource=\(Self.percentEncoded(item.resource))"
    }

    /// RFC 3986, 2.3: all but the unreserved characters.
    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
