internal import CLibEventHTTP
package import EventLoops

/// A connection to an HTTP server on this machine. It sends one request after the other, and stays open between them.
///
/// The client belongs to its loop's thread.
package final class HTTPClient {
    /// The server's answer.
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]
        fileprivate let headers: [(name: String, value: String)]

        /// The value of the first header with exactly this name, upper and lower case included.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private let loop: EventLoop
    private let host: String
    private let connection: OpaquePointer?
    private var pending: Pending?

    /// - Parameters:
    ///   - address: an address of the loopback interface.
    ///   - timeout: the longest time to wait for an answer, in seconds.
    package init(_ loop: EventLoop, address: String = "127.0.0.1", port: UInt16, timeout: Int32 = 10) {
        self.loop = loop
        host = "\(address):\(port)"
        connection = evhttp_connection_base_new(loop.base, nil, address, port)
        if let connection { evhttp_connection_set_timeout(connection, timeout) }
    }

    deinit {
        if let connection { evhttp_connection_free(connection) }
    }

    /// Sends a request: a POST if it has a body, otherwise a GET. Only one request may be pending at a time.
    ///
    /// - Parameter completion: called on the loop's thread; with `nil` if no answer came.
    package func send(
        _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        _ completion: @escaping (Answer?) -> Void
    ) {
        let pending = Pending(completion)
        // The pointer is unretained: this client holds the object until it is called.
        let request = evhttp_request_new(
            { request, pending in
                guard let pending else { return }
                Unmanaged<Pending>.fromOpaque(pending).takeUnretainedValue().complete(request)
            }, Unmanaged.passUnretained(pending).toOpaque())
        guard let connection, let request else { return completion(nil) }
        self.pending = pending
        let output = evhttp_request_get_output_headers(request)
        for (name, value) in [("Host", host)] + headers { evhttp_add_header(output, name, value) }
        if let body { evbuffer_add(evhttp_request_get_output_buffer(request), body, body.count) }
        // The connection now owns the request, and has already called back if it failed at once.
        if evhttp_make_request(connection, request, body == nil ? EVHTTP_REQ_GET : EVHTTP_REQ_POST, target) != 0 {
            pending.complete(nil)
        }
    }

    /// Sends a request as ``send(_:headers:body:_:)`` does, and waits for the answer; `nil` if none came.
    package func ask(
        _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) -> Answer? {
        var (answer, isDone) = (Answer?.none, false)
        send(target, headers: headers, body: body) { (answer, isDone) = ($0, true) }
        loop.run { isDone }
        return answer
    }
}

/// A request that has been sent, with the completion that its answer goes to.
private final class Pending {
    private var completion: ((HTTPClient.Answer?) -> Void)?

    init(_ completion: @escaping (HTTPClient.Answer?) -> Void) { self.completion = completion }

    /// Calls the completion, at most once.
    func complete(_ request: OpaquePointer?) {
        let completion = completion
        self.completion = nil
        completion?(request.flatMap { HTTPClient.Answer($0) })
    }
}

extension HTTPClient.Answer {
    /// Copies the answer that libevent has read; `nil` if the connection ended before an answer.
    fileprivate init?(_ request: OpaquePointer) {
        status = Int(evhttp_request_get_response_code(request))
        guard status > 0 else { return nil }
        var headers: [(name: String, value: String)] = []
        var next = evhttp_request_get_input_headers(request)?.pointee.tqh_first
        while let header = next {
            headers.append((String(cString: header.pointee.key), String(cString: header.pointee.value)))
            next = header.pointee.next.tqe_next
        }
        self.headers = headers
        let buffer = evhttp_request_get_input_buffer(request)
        let length = evbuffer_get_length(buffer)
        var body = [UInt8](repeating: 0, count: length)
        let count = body.withUnsafeMutableBytes { evbuffer_remove(buffer, $0.baseAddress, length) }
        body.removeLast(length - max(0, Int(count)))
        self.body = body
    }
}
