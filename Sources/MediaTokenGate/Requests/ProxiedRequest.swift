internal import HTTPMessages
internal import MediaToken
internal import StreamPaths
internal import TextEncodings

/// A client's request, as described by the proxy that asks the gate about it.
///
/// A value is `nil` if the proxy does not send it. Each endpoint reads only the headers of its own proxies, which the
/// guides configure to overwrite them. Any other header could come from the client.
struct ProxiedRequest {
    /// The proxy's own request, which also carries the client's headers.
    let question: HTTPRequest
    let target: ArraySlice<UInt8>?
    /// The part of the proxy's request that has the target.
    let targetField: StaticString
    let method: ArraySlice<UInt8>?
    let host: ArraySlice<UInt8>?
    /// The proxy's ID of the client's request.
    let attempt: ArraySlice<UInt8>?

    init(
        _ question: HTTPRequest, target: ArraySlice<UInt8>?, from targetField: StaticString,
        method: ArraySlice<UInt8>?, host: ArraySlice<UInt8>?, attempt: ArraySlice<UInt8>? = nil
    ) {
        (self.question, self.target, self.targetField, self.method) = (question, target, targetField, method)
        (self.host, self.attempt) = (host, attempt)
    }

    var streamHost: StreamHost? { host.flatMap { StreamHost($0) } }

    /// Lets the proxy ask again about the same client request, as nginx does after an internal redirect.
    ///
    /// - Parameter window: The length of the retry window; `nil` if the proxy may ask only once.
    func retries(within window: Duration?) -> RetryWindow? {
        guard let window, let attempt, let target, Self.isRequestID(attempt) else { return nil }
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
