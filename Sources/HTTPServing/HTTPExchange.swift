internal import CLibEventHTTP

/// A request that waits for its answer. It is answered on its loop's thread, once; let go without, it is answered with 500.
///
/// It owns libevent's request until the answer hands that back.
package final class HTTPExchange {
    package let request: HTTPRequest
    private var pointer: OpaquePointer?
    /// `nil` once the server is gone.
    private weak var worker: HTTPWorker?

    init(_ pointer: OpaquePointer, _ request: HTTPRequest, _ worker: HTTPWorker) {
        self.pointer = pointer
        self.request = request
        self.worker = worker
    }

    deinit {
        answer(HTTPAnswer(500))
    }

    /// The request is about to be freed by whoever owns the server.
    func abandon() { pointer = nil }

    package func answer(_ answer: HTTPAnswer) {
        guard let pointer else { return }
        self.pointer = nil
        let headers = evhttp_request_get_output_headers(pointer)
        // libevent refuses a value with a line break in it.
        for (name, value) in answer.headers { evhttp_add_header(headers, name, value) }
        // libevent takes for a chunk's size what others do not (`0x1`, `+1`): what follows might be the rest of a body.
        let isChunked = !request.values(of: "Transfer-Encoding").isEmpty
        if worker?.isStopping == true || isChunked { evhttp_add_header(headers, "Connection", "close") }
        let body = evhttp_request_get_output_buffer(pointer)
        // An answer to HEAD has none (RFC 9110, 9.3.2).
        if !answer.body.isEmpty, request.method != "HEAD" { evbuffer_add(body, answer.body, answer.body.count) }
        worker?.isAnswered(pointer)
        evhttp_send_reply(pointer, Int32(answer.status), HTTPReason.phrase(answer.status), nil)
    }
}

/// Reason phrases (RFC 9110, 15) of the statuses that are used.
enum HTTPReason {
    static func phrase(_ status: Int) -> String {
        phrases[status] ?? "Status"
    }

    private static let phrases = [
        200: "OK", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 413: "Content Too Large", 415: "Unsupported Media Type",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
        503: "Service Unavailable",
    ]
}

extension HTTPRequest {
    /// Copies what libevent has parsed. The method is empty where nobody here needs it.
    init(_ pointer: OpaquePointer) {
        let target = evhttp_request_get_uri(pointer).map { String(cString: $0) } ?? ""
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        var headers: [(name: String, value: String)] = []
        var next = evhttp_request_get_input_headers(pointer)?.pointee.tqh_first
        while let header = next {
            headers.append((String(cString: header.pointee.key), String(cString: header.pointee.value)))
            next = header.pointee.next.tqe_next
        }
        self.init(
            method: Self.method(of: pointer),
            path: String(target[..<(mark ?? target.endIndex)]),
            query: mark.map { String(target[target.utf8.index(after: $0)...]) }, headers: headers,
            body: Self.body(of: pointer),
            peer: evhttp_request_get_connection(pointer).map(HTTPConnection.peer) ?? "")
    }

    /// Empty where nobody here needs it.
    static func method(of pointer: OpaquePointer) -> String {
        methods[evhttp_request_get_command(pointer).rawValue] ?? ""
    }

    private static func body(of pointer: OpaquePointer) -> [UInt8] {
        let buffer = evhttp_request_get_input_buffer(pointer)
        let length = evbuffer_get_length(buffer)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            count = max(0, Int(evbuffer_remove(buffer, bytes.baseAddress, length)))
        }
    }

    private static let methods: [UInt32: String] = [
        EVHTTP_REQ_GET.rawValue: "GET", EVHTTP_REQ_HEAD.rawValue: "HEAD", EVHTTP_REQ_POST.rawValue: "POST",
        EVHTTP_REQ_PUT.rawValue: "PUT", EVHTTP_REQ_DELETE.rawValue: "DELETE", EVHTTP_REQ_OPTIONS.rawValue: "OPTIONS",
        EVHTTP_REQ_PATCH.rawValue: "PATCH",
    ]
}
