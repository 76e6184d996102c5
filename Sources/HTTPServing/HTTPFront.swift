internal import CLibEventHTTP
internal import EventLoops
package import Synchronization

/// A socket that a worker accepts on.
struct HTTPWorkerSocket: Sendable {
    let descriptor: Int32
    let isTLS: Bool
}

/// libevent's HTTP server on the sockets of one worker that speak in the clear, or on those that speak TLS: it asks for the
/// buffer of a connection without saying on which socket that came.
final class HTTPFront {
    private let http: OpaquePointer
    private var acceptors: [OpaquePointer] = []
    private unowned let worker: HTTPWorker
    private let isTLS: Bool

    /// A request may be longer by this than the limit on headers, so that it is we who answer it.
    private static let headerSlack = 32_768

    /// Bytes that a request's line and headers may have before libevent stops reading them.
    static func mostBytes(_ limits: HTTPLimits) -> Int { limits.headerBytes + headerSlack }

    init(
        _ worker: HTTPWorker, _ loop: EventLoop, _ sockets: [Int32], _ limits: HTTPLimits, isTLS: Bool
    ) throws(HTTPServer.Failure) {
        guard let http = evhttp_new(loop.base) else { throw HTTPServer.Failure("cannot be made: no memory") }
        (self.http, self.worker, self.isTLS) = (http, worker, isTLS)
        evhttp_set_default_content_type(http, nil)
        evhttp_set_max_headers_size(http, Self.mostBytes(limits))
        evhttp_set_max_body_size(http, limits.bodyBytes)
        // All of them, unknown ones too: libevent's own refusal may have no end, on a connection that stays open.
        evhttp_set_allowed_methods(http, .max)
        // Unretained, both: libevent's server is freed with this object.
        let me = Unmanaged.passUnretained(self).toOpaque()
        evhttp_set_bevcb(
            http,
            { base, front in
                guard let front else { return nil }
                let own = Unmanaged<HTTPFront>.fromOpaque(front).takeUnretainedValue()
                return own.worker.newBuffer(on: base, isTLS: own.isTLS)
            }, me)
        evhttp_set_gencb(
            http,
            { request, front in
                guard let front, let request else { return }
                Unmanaged<HTTPFront>.fromOpaque(front).takeUnretainedValue().worker.take(request)
            }, me)
        for socket in sockets {
            guard let acceptor = evhttp_accept_socket_with_handle(http, socket) else {
                throw HTTPServer.Failure("cannot accept on a socket: no memory")
            }
            acceptors.append(acceptor)
            // As a rule no descriptors are left. Trying again at once would only keep the processor busy.
            evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(acceptor)) { listener, _ in
                HTTPServer.acceptPauses.add(1, ordering: .relaxed)
                evconnlistener_disable(listener)
            }
        }
    }

    deinit {
        evhttp_free(http)
    }

    /// Goes on after a pause, if there was one.
    func resumeAccepting() {
        for acceptor in acceptors { evconnlistener_enable(evhttp_bound_socket_get_listener(acceptor)) }
    }

    func stopAccepting() {
        for acceptor in acceptors { evhttp_del_accept_socket(http, acceptor) }
        acceptors = []
    }
}

extension HTTPServer {
    /// How often a socket of this process has paused for half a second, since there was no descriptor for the next connection.
    package static let acceptPauses = Atomic<Int>(0)
}
