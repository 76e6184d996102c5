internal import Basics
internal import CommandShell
internal import HTTP

/// Serves the page to a browser of this machine, at an address that nobody can guess, until it is stopped.
///
/// Nothing that the page sends is written anywhere.
struct WebSession: Sendable {
    /// The address of the page, which only the user of this command may know.
    let url: String
    private let server: HTTPServer

    /// The most bytes of a question: what was pasted or dropped, and the keys.
    private static let longestQuestion = 64 << 20

    /// - Parameters:
    ///   - port: the port on the loopback; 0 for any that is free.
    ///   - shortestKey: the bits of the shortest RSA key that is taken.
    init(port: UInt16, shortestKey: Int, _ engine: WebEngine) throws(CommandError) {
        let site = WebSite(page: try WebPage(shortestKey: shortestKey), engine: engine)
        var limits = HTTPLimits()
        (limits.bodyBytes, limits.connections, limits.connectionsPerPeer) = (Self.longestQuestion, 64, 64)
        server = try CommandError.wrap {
            try HTTPServer(
                [HTTPListener(.tcp(host: "127.0.0.1", port: port))], workers: 1, limits: limits
            ) { _ in HTTPHandler { group in for exchange in group { exchange.answer(site.answer(exchange.request)) } } }
        }
        url = "http://\(server.listeners[0])\(site.path)"
        site.serve(at: server.listeners[0])
    }

    func stop() { server.stop(withinMilliseconds: 1000) }
}

/// Answers the requests of one page.
private final class WebSite: Sendable {
    /// The path of the page: 128 bits from the system's random source.
    let path: String
    private let page: WebPage
    private let engine: WebEngine
    private let hosts = Guarded<[String]>([])

    init(page: WebPage, engine: WebEngine) {
        (self.page, self.engine) = (page, engine)
        let random = (0..<16).map { _ in UInt8.random(in: 0...255) }
        path = "/\(random.hexadecimal)/"
    }

    /// Answers requests for this listener from now on, under its address and under the name of the loopback.
    func serve(at listener: HTTPListener) {
        guard case .tcp(_, let port) = listener.socket else { return }
        hosts.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] }
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        // Another name would be one that its owner has pointed here, to read the page's answers (DNS rebinding).
        guard let host = request.onlyText(of: .host), hosts.withLock({ $0.contains(host) }), request.query == nil else {
            return refuse(404, "not found")
        }
        let target = String(decoding: request.path, as: UTF8.self)
        switch (String(decoding: request.method, as: UTF8.self), target) {
        case ("GET", path): return page.answer(200, type: "text/html; charset=utf-8", page.bytes)
        case ("POST", path + "inspect"): return answer(request, from: host, engine.inspect)
        case ("POST", path + "keys"): return answer(request, from: host, engine.keys)
        default: return refuse(404, "not found")
        }
    }

    /// Answers a question, unless it comes from a page of another origin.
    private func answer(
        _ request: HTTPRequest, from host: String, _ engine: (WebQuestion) -> Result<[String], WebRefusal>
    ) -> HTTPAnswer {
        guard request.onlyText(of: "origin") == "http://\(host)",
            request.values(of: "sec-fetch-site").isEmpty || request.onlyText(of: "sec-fetch-site") == "same-origin",
            request.onlyText(of: .contentType) == "application/json"
        else { return refuse(403, "not a question of this page") }
        do throws(WebRefusal) {
            let lines = try engine(try WebQuestion(request.body)).get()
            return page.answer(200, type: "application/x-ndjson", Array(lines.map { $0 + "\n" }.joined().utf8))
        } catch { return refuse(400, error.message) }
    }

    private func refuse(_ status: Int, _ message: String) -> HTTPAnswer {
        page.answer(status, type: "text/plain; charset=utf-8", Array("\(message)\n".utf8))
    }
}
