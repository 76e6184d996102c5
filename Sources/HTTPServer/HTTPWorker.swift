internal import CLibEventHTTP
internal import EventLoop

/// One thread's share of a server: its loop, its sockets, its connections.
///
/// What one turn of the loop brought is handed on as one group, when the turn ends.
final class HTTPWorker {
    private let loop: EventLoop
    private let limits: HTTPLimits
    private let handler: HTTPHandler
    private let http: OpaquePointer
    private let connections: HTTPConnections
    private var acceptors: [OpaquePointer] = []
    private var arrived: [HTTPExchange] = []
    private(set) var isStopping = false
    private var stopTimer: LoopTimer?
    private var isStopped = false

    /// Requests that wait for their answer.
    private var open: [OpaquePointer: WeakExchange] = [:]

    /// A request may be longer by this than the limit on headers, so that it is we who answer it.
    private static let headerSlack = 32_768

    init(
        _ loop: EventLoop, _ sockets: [Int32], _ limits: HTTPLimits, _ count: HTTPConnectionCount,
        _ handler: @escaping HTTPHandler
    ) throws(HTTPServer.Failure) {
        guard let http = evhttp_new(loop.base) else { throw HTTPServer.Failure("cannot be made: no memory") }
        (self.loop, self.http, self.limits, self.handler) = (loop, http, limits, handler)
        connections = HTTPConnections(loop, limits, count)
        evhttp_set_default_content_type(http, nil)
        evhttp_set_max_headers_size(http, limits.headerBytes + Self.headerSlack)
        evhttp_set_max_body_size(http, limits.bodyBytes)
        evhttp_set_allowed_methods(http, UInt16(HTTPRequest.methods.keys.reduce(0, |)))
        // Unretained, both: the server is freed with this object.
        let me = Unmanaged.passUnretained(self).toOpaque()
        evhttp_set_bevcb(
            http,
            { base, worker in
                let buffer = bufferevent_socket_new(base, -1, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue))
                guard let worker, let buffer else { return buffer }
                Unmanaged<HTTPWorker>.fromOpaque(worker).takeUnretainedValue().accepted(buffer)
                return buffer
            }, me)
        evhttp_set_gencb(
            http,
            { request, worker in
                guard let worker, let request else { return }
                Unmanaged<HTTPWorker>.fromOpaque(worker).takeUnretainedValue().take(request)
            }, me)
        for socket in sockets {
            guard let acceptor = evhttp_accept_socket_with_handle(http, socket) else {
                throw HTTPServer.Failure("cannot accept on a socket: no memory")
            }
            acceptors.append(acceptor)
        }
    }

    deinit {
        // Their requests are freed with the server.
        for exchange in open.values { exchange.value?.abandon() }
        connections.forgetAll()
        evhttp_free(http)
    }

    /// Serves until ``stop(withinMilliseconds:)`` has come to its end.
    func run() {
        while !isStopped {
            loop.turn()
            connections.adopt()
            let group = arrived
            arrived = []
            if !group.isEmpty { handler(group) }
            if isStopping, connections.areQuiet { isStopped = true }
        }
    }

    /// Takes no more connections, waits for the answers that are due, and ends ``run()``.
    func stop(withinMilliseconds patience: Int) {
        guard !isStopping else { return }
        isStopping = true
        for acceptor in acceptors { evhttp_del_accept_socket(http, acceptor) }
        acceptors = []
        stopTimer = loop.timer(afterMilliseconds: patience) { [unowned self] in isStopped = true }
    }

    private func accepted(_ buffer: OpaquePointer) {
        // More than a request may have, and no more: a peer that only sends would else fill the memory.
        let most = limits.headerBytes + Self.headerSlack + limits.bodyBytes + 65_536
        bufferevent_setwatermark(buffer, Int16(EV_READ), 0, most)
        connections.accepted(buffer)
        // A turn can go on to read what the new connection has sent. It must be known to us before.
        loop.endTurn()
    }

    /// The answer is on its way; the rest is libevent's affair.
    func isAnswered(_ pointer: OpaquePointer) {
        open[pointer] = nil
        connections.isSending(pointer)
    }

    private func take(_ pointer: OpaquePointer) {
        connections.hasArrived(pointer)
        let request = HTTPRequest(pointer)
        let exchange = HTTPExchange(pointer, request ?? HTTPRequest(method: "", path: ""), self)
        open[pointer] = WeakExchange(value: exchange)
        guard let request, request.hasOneLength else {
            return exchange.answer(HTTPAnswer(400, headers: [("Connection", "close")]))
        }
        let size = request.headers.reduce(request.path.utf8.count + (request.query?.utf8.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 4
        }
        guard size <= limits.headerBytes else { return exchange.answer(HTTPAnswer(431)) }
        arrived.append(exchange)
    }
}

private struct WeakExchange {
    weak var value: HTTPExchange?
}

extension HTTPRequest {
    /// Whether nobody can take the end of its body for elsewhere (RFC 9112, 6.3 and 11.2). libevent reads no body of a HEAD,
    /// and would read one as a request of its own.
    fileprivate var hasOneLength: Bool {
        let (lengths, codings) = (values(of: "Content-Length"), values(of: "Transfer-Encoding"))
        guard lengths.count + codings.count <= 1 else { return false }
        if method == "HEAD" { return codings.isEmpty && (lengths.first ?? "0") == "0" }
        return codings.isEmpty || codings[0].lowercased() == "chunked"
    }
}
