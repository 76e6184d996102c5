internal import Basics
internal import CommandShell
internal import EventLoops
internal import HTTP

/// The programmer's side of the demo: the page with the player, and a stream that is served only if the gate allows it.
///
/// It does what nginx does in front of a real stream: it passes a play on to the gate, and asks the gate about each
/// request for the stream.
struct DemoEdge {
    private let server: HTTPServer
    let url: String

    /// - Parameter sandbox: The origin of the sandbox, which the page calls.
    init(port: UInt16, gate: UInt16, sandbox: String, _ calls: DemoCalls) throws(CommandError) {
        server = try CommandError.wrap {
            try HTTPServer([HTTPListener(.tcp(host: "127.0.0.1", port: port))], workers: 1) { loop in
                let gate = ConnectionPool(loop, ServerURL(host: "127.0.0.1", port: gate), most: 16)
                let site = DemoSite(gate: gate, sandbox: sandbox, calls)
                return HTTPHandler { group in for exchange in group { site.answer(exchange) } }
            }
        }
        url = "http://\(server.listeners[0])/"
    }

    func stop() { server.stop(withinMilliseconds: 1000) }
}

/// Answers the requests of the player.
private final class DemoSite {
    private let gate: ConnectionPool
    private let calls: DemoCalls
    private let page: [UInt8]
    private let policy: String

    init(gate: ConnectionPool, sandbox: String, _ calls: DemoCalls) {
        (self.gate, self.calls) = (gate, calls)
        page = Array(
            String(decoding: PackageResources.player_html, as: UTF8.self).replacing("{sandbox}", with: sandbox)
                .replacing("{style}", with: PageStyle.text).utf8)
        policy =
            "default-src 'self'; connect-src 'self' \(sandbox); img-src 'self' blob:; style-src 'unsafe-inline'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    func answer(_ exchange: HTTPExchange) {
        let request = exchange.request
        // The name of an attacker's site could resolve to this address (DNS rebinding).
        guard let host = request.onlyText(of: .host),
            ["127.0.0.1", "localhost"].contains(host.prefix { $0 != ":" })
        else {
            exchange.answer(HTTPAnswer(421))
            return
        }
        let path = String(decoding: request.path, as: UTF8.self)
        switch (String(decoding: request.method, as: UTF8.self), path) {
        case ("GET", "/"): exchange.answer(content("text/html; charset=utf-8", page))
        case ("GET", "/player.js"): exchange.answer(content("text/javascript", PackageResources.player_js))
        case ("GET", "/calls"): exchange.answer(content("application/json", Array(calls.json.utf8)))
        case ("POST", "/v1/play"):
            let origin = request.onlyValue(of: "origin").map { String(decoding: $0, as: UTF8.self) }
            guard origin.map({ $0 == "http://\(host)" }) ?? true else {
                exchange.answer(HTTPAnswer(403))
                return
            }
            play(exchange)
        case ("GET", _) where path.hasPrefix("/live/"): serve(path, exchange)
        default: exchange.answer(HTTPAnswer(404))
        }
    }

    private func content(_ type: String, _ body: [UInt8]) -> HTTPAnswer {
        var answer = HTTPAnswer(200, type: type, body: body)
        answer.add("Content-Security-Policy", policy)
        answer.add("X-Content-Type-Options", "nosniff")
        answer.add("Cache-Control", "no-store")
        return answer
    }

    /// Passes a play on to the gate, and its answer with the cookie back.
    private func play(_ exchange: HTTPExchange) {
        let target = String(decoding: exchange.request.target, as: UTF8.self)
        gate.send(target, headers: [("Content-Type", "text/plain")], body: Array(exchange.request.body)) {
            [calls] answer in
            guard let answer else {
                exchange.answer(HTTPAnswer(502))
                return
            }
            calls.note(
                "gate", exchange.request, answer.status, answer.body, code: answer.header("X-Media-Token-Code"))
            var passed = HTTPAnswer(answer.status, type: answer.header("Content-Type"), body: answer.body)
            for cookie in answer.values(of: "Set-Cookie") { passed.add("Set-Cookie", cookie) }
            exchange.answer(passed)
        }
    }

    /// Serves a file of the stream if the gate allows the request.
    private func serve(_ path: String, _ exchange: HTTPExchange) {
        var headers = [(name: "X-Original-URI", value: String(decoding: exchange.request.target, as: UTF8.self))]
        if let cookie = exchange.request.onlyValue(of: "cookie") {
            headers.append(("Cookie", String(decoding: cookie, as: UTF8.self)))
        }
        gate.send("/v1/authz/auth-request", headers: headers) { [self] answer in
            let code = answer?.header("X-Media-Token-Code")
            calls.note("gate", exchange.request, answer?.status ?? 502, answer?.body ?? [], code: code)
            guard answer?.status == 200 else {
                exchange.answer(HTTPAnswer(answer?.status ?? 502))
                return
            }
            exchange.answer(DemoStream.file(path).map { content($0.type, $0.body) } ?? HTTPAnswer(404))
        }
    }
}
