internal import CLibEventHTTP
internal import EventLoops
internal import TextEncodings

/// One thread's share of a server: its loop, its sockets, its connections.
///
/// What one turn of the loop brought is handed on as one group, when the turn ends.
final class HTTPWorker {
    private let loop: EventLoop
    private let limits: HTTPLimits
    private let handler: HTTPHandler
    private let identity: TLSIdentity
    private let connections: HTTPConnections
    private var fronts: [HTTPFront] = []
    private var timer: LoopTimer?
    private var arrived: [HTTPExchange] = []
    private(set) var isStopping = false
    private var stopTimer: LoopTimer?
    private var isStopped = false

    /// Requests that wait for their answer.
    private var open: [OpaquePointer: WeakExchange] = [:]

    init(
        _ loop: EventLoop, _ sockets: [HTTPWorkerSocket], _ limits: HTTPLimits, share: Int,
        _ count: HTTPConnectionCount,
        _ identity: TLSIdentity, _ handler: @escaping HTTPHandler
    ) throws(HTTPServer.Failure) {
        (self.loop, self.limits, self.identity, self.handler) = (loop, limits, identity, handler)
        connections = HTTPConnections(loop, limits, count, share: share)
        for isTLS in [false, true] {
            let own = sockets.filter { $0.isTLS == isTLS }.map(\.descriptor)
            if !own.isEmpty { fronts.append(try HTTPFront(self, loop, own, limits, isTLS: isTLS)) }
        }
        tick()
    }

    deinit {
        // Their requests are freed with the server.
        for exchange in open.values { exchange.value?.abandon() }
        connections.forgetAll()
        fronts = []
    }

    /// Serves until ``stop(withinMilliseconds:)`` has come to its end.
    func run() {
        while !isStopped {
            loop.turn()
            connections.adopt()
            connections.closeLargest()
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
        for front in fronts { front.stopAccepting() }
        stopTimer = loop.timer(afterMilliseconds: patience) { [unowned self] in isStopped = true }
    }

    /// Twice a second: what nobody calls us for.
    private func tick() {
        connections.closeOverdue()
        for front in fronts { front.resumeAccepting() }
        timer = loop.timer(afterMilliseconds: 500) { [unowned self] in tick() }
    }

    /// What a connection that is being accepted is read and written through.
    func newBuffer(on base: OpaquePointer?, isTLS: Bool) -> OpaquePointer? {
        let secured = isTLS ? identity.current?.buffer(on: base) : nil
        guard let buffer = secured ?? bufferevent_socket_new(base, -1, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)) else {
            return nil
        }
        // More than a request may have, and no more: a peer that only sends would else fill the memory.
        bufferevent_setwatermark(buffer, Int16(EV_READ), 0, HTTPFront.mostBytes(limits) + limits.bodyBytes + 65_536)
        // evhttp would talk in the clear where TLS cannot be had.
        connections.accepted(buffer, isTLS: isTLS, isLost: isTLS && secured == nil)
        // A turn can go on to read what the new connection has sent. It must be known to us before.
        loop.endTurn()
        return buffer
    }

    /// The answer is on its way; the rest is libevent's affair.
    func isAnswered(_ pointer: OpaquePointer) {
        open[pointer] = nil
        connections.isSending(pointer)
    }

    func take(_ pointer: OpaquePointer) {
        connections.hasArrived(pointer)
        let isTrusted = connections.isTrusted(pointer)
        // What is refused unseen is not copied.
        let request = isTrusted ? HTTPRequest(pointer) : HTTPRequest(method: HTTPRequest.method(of: pointer), path: "")
        let exchange = HTTPExchange(pointer, request, self)
        open[pointer] = WeakExchange(value: exchange)
        guard !request.method.isEmpty else { return refuse(exchange, pointer, 501) }
        let hasHost = !request.values(of: "Host").isEmpty || !connections.demandsHost(pointer)
        guard isTrusted, hasHost, request.isUnambiguous else { return refuse(exchange, pointer, 400) }
        let size = request.headers.reduce(request.path.utf8.count + (request.query?.utf8.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 4
        }
        guard size <= limits.headerBytes else { return refuse(exchange, pointer, 431) }
        arrived.append(exchange)
    }

    /// Ends the connection too: what follows may be a part of what was refused.
    private func refuse(_ exchange: HTTPExchange, _ pointer: OpaquePointer, _ status: Int) {
        connections.distrust(pointer)
        exchange.answer(HTTPAnswer(status, headers: [("Connection", "close")]))
    }
}

private struct WeakExchange {
    weak var value: HTTPExchange?
}

extension HTTPRequest {
    /// Whether nobody can take it for another request, or its end for elsewhere (RFC 9112, 3.2, 5.1, 6.3 and 11.2).
    package var isUnambiguous: Bool {
        // Visible ASCII. To compare a path of ten thousand accents with another would take a second.
        let isVisible = { (text: String) in text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        return isVisible(path) && isVisible(query ?? "") && values(of: "Host").count <= 1
            && values(of: "Content-Type").count <= 1 && hasOneLength
            && headers.allSatisfy { !$0.name.isEmpty && $0.name.utf8.allSatisfy(\.isTokenCharacter) }
    }

    /// libevent reads no body of a HEAD, and would read one as a request of its own.
    private var hasOneLength: Bool {
        let (lengths, codings) = (values(of: "Content-Length"), values(of: "Transfer-Encoding"))
        guard lengths.count + codings.count <= 1 else { return false }
        guard lengths.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return false }
        if method == "HEAD" { return codings.isEmpty && (lengths.first ?? "0") == "0" }
        return codings.isEmpty || codings[0].isSame(ignoringCaseOf: "chunked")
    }
}
