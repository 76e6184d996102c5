internal import HTTPServer
internal import MediaToken
internal import StreamPaths
internal import TextEncodings

/// A client's request as the proxy that asks about it describes it.
///
/// A value is `nil` if the proxy does not send it. Each endpoint reads only the headers of its own proxies, which the guides
/// have them overwrite; another proxy's header would be the client's.
struct ProxiedRequest {
    /// The proxy's own request, which carries the client's headers too.
    let question: HTTPRequest
    let target: String?
    let method: String?
    let host: String?
    /// The proxy's own name for the client's request.
    let attempt: String?

    init(_ question: HTTPRequest, target: String?, method: String?, host: String?, attempt: String? = nil) {
        (self.question, self.target, self.method) = (question, target, method)
        (self.host, self.attempt) = (host, attempt)
    }

    var streamHost: StreamHost? { host.flatMap { StreamHost($0) } }

    /// Lets the proxy ask again about the same request of the client, as nginx does after an internal redirect.
    ///
    /// - Parameter window: For how long; `nil` for a single question.
    func retries(within window: Duration?) -> RetryWindow? {
        guard let window, let attempt, let target, Self.isRequestID(attempt) else { return nil }
        // Starts unlike any Idempotency-Key secret, so a client that learns the request ID cannot use it to retry /v1/play.
        let secret = [Self.purpose, attempt, host ?? "", target].map { Array($0.utf8) }.joined(
            separator: [0])
        return RetryWindow(secret: Array(secret), within: window)
    }

    private static let purpose = "attempt"

    /// Whether this looks like nginx's `$request_id` (nginx.org, ngx_http_core_module): 16 random bytes in hexadecimal.
    private static func isRequestID(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}
