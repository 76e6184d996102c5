internal import Basics
internal import CommandShell
internal import EventLoops
internal import HTTP
internal import MediaToken
internal import Sandbox

/// Serves a sandbox on sockets: hands requests to the service, and keeps its answers back for as long as it says.
struct SandboxServer {
    private let server: HTTPServer

    /// Where the sandbox is served, with the port that the system chose in place of port 0.
    var listeners: [HTTPListener] { server.listeners }

    /// Takes the addresses, writes the public keys, and then serves: a client that finds the sandbox healthy also finds
    /// its keys.
    ///
    /// - Parameters:
    ///   - tls: The certificate and key of listeners in TLS.
    ///   - note: Called on any thread with each call and its answer.
    init(
        _ options: SandboxOptions, on listeners: [HTTPListener], workers: Int, tls: TLSServer.Files? = nil,
        note: @escaping @Sendable (HTTPRequest, HTTPAnswer) -> Void
    ) throws(CommandError) {
        let keys = try options.keys()
        let hasKeys = Guarded(false)
        server = try CommandError.wrap {
            var settings = options.settings
            settings.isSecure = tls != nil
            let service = try SandboxService(keys, settings)
            return try HTTPServer(listeners, workers: workers, tls: try tls.map { try TLSServer($0) }) { loop in
                let late = LateAnswers(loop)
                return HTTPHandler { group in
                    for exchange in group {
                        guard hasKeys.withLock({ $0 }) else {
                            exchange.answer(HTTPAnswer(503))
                            continue
                        }
                        let answer = service.answer(exchange.request, at: .now)
                        note(exchange.request, answer.answer)
                        late.send(answer, to: exchange)
                    }
                }
            }
        }
        try options.write(keys)
        hasKeys.withLock { $0 = true }
    }

    func stop() { server.stop(withinMilliseconds: 1000) }
}

/// The answers of one loop that wait for their time.
private final class LateAnswers {
    private let loop: EventLoop
    private var timers: [Int: LoopTimer] = [:]
    private var last = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func send(_ answer: SandboxAnswer, to exchange: HTTPExchange) {
        guard answer.delay > 0 else {
            exchange.answer(answer.answer)
            return
        }
        last += 1
        timers[last] = loop.timer(afterMilliseconds: answer.delay) { [unowned self, last] in
            timers[last] = nil
            exchange.answer(answer.answer)
        }
    }
}
