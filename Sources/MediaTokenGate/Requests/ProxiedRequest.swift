internal import Basics
internal import HTTP
internal import MediaToken
internal import StreamPaths

/// A client's request, as described by the proxy that asks the gate about it.
///
/// A value is `nil` if the proxy does not send it. Each endpoint reads only the headers of its own proxies, which the
/// guides configure to overwrite them. Any other header could come from the client.
struct ProxiedRequest {
    /// The proxy's own request, which also carries the client's headers.
    let question: HTTPRequest
    let endpoint: GateEndpoint
    let target: ArraySlice<UInt8>
    let method: ArraySlice<UInt8>?
    let host: ArraySlice<UInt8>?
    /// The proxy's ID of the client's request.
    let attempt: ArraySlice<UInt8>?

    /// Reads the request of a proxy at one of the endpoints for proxies.
    ///
    /// - Throws: ``RequestError`` if the request has a body, or does not have one target.
    init(_ question: HTTPRequest, at endpoint: GateEndpoint) throws(RequestError) {
        // A proxy asks without a body. Bytes after its headers may belong to another request, or imitate one.
        guard question.body.isEmpty else { throw .noRoute("the proxy's request has a body; expected none") }
        (self.question, self.endpoint) = (question, endpoint)
        let fields = endpoint.proxyFields
        // Where a field names the method, and the proxy does not send it, there is none: its own says nothing.
        if let field = fields.method { method = question.onlyValue(of: field) } else { method = question.method }
        if endpoint == .authRequest, let url = try Self.originalURL(of: question) {
            // The proxies that send a URL set neither X-Original-Host nor an attempt; these could come from the client.
            (host, target, attempt) = (Array(url.origin.host.name.utf8)[...], url.rest, nil)
            return
        }
        host = question.onlyValue(of: fields.host)
        if let field = fields.target {
            target = try Self.one(field, of: question)
        } else {
            // Unreached: The endpoint is found by this beginning of the target; the default only satisfies the type.
            target = question.target.dropping(endpoint.path) ?? []
        }
        attempt = endpoint == .authRequest ? question.onlyValue(of: GateField.attempt) : nil
    }

    /// The URL in `X-Original-URL`, as ingress-nginx and guides to Authelia and authentik send it; `nil` if there is
    /// none.
    private static func originalURL(
        of question: HTTPRequest
    ) throws(RequestError) -> (origin: StreamOrigin, rest: ArraySlice<UInt8>)? {
        guard !question.values(of: GateField.originalURL).isEmpty else { return nil }
        guard question.values(of: GateField.originalURI).isEmpty else {
            throw .noRoute("\(GateField.originalURI) and \(GateField.originalURL) are given; expected one of them")
        }
        guard let url = StreamOrigin.read(try one(GateField.originalURL, of: question)) else {
            throw .noRoute("\(GateField.originalURL) is not a URL that begins with http:// or https:// and a host")
        }
        return url
    }

    private static func one(_ field: HTTPFieldName, of question: HTTPRequest) throws(RequestError) -> ArraySlice<UInt8>
    {
        guard let value = question.onlyValue(of: field) else {
            throw .noRoute(
                question.values(of: field).isEmpty
                    ? "the stream's path is missing; expected it once, in \(field)"
                    : "\(field) is given more than once; expected it once")
        }
        return value
    }

    var streamHost: StreamHost? { host.flatMap { StreamHost($0) } }

    /// Lets the proxy ask again about the same client request, as nginx does after an internal redirect.
    ///
    /// - Parameter window: The length of the retry window; `nil` if the proxy may ask only once.
    func retries(within window: Duration?) -> RetryWindow? {
        guard let window, let attempt, Self.isRequestID(attempt) else { return nil }
        // The secret never equals an Idempotency-Key's: a client that learns the request ID cannot retry /v1/play.
        let secret = [Self.purpose, attempt, host ?? [], target].joined(separator: [0])
        return RetryWindow(secret: Array(secret), within: window)
    }

    private static let purpose = Array("attempt".utf8)[...]

    /// Whether `text` is like nginx's `$request_id` (nginx.org, ngx_http_core_module): 16 random bytes in hexadecimal.
    private static func isRequestID(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == 32 && text.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
