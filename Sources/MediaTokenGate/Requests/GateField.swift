internal import HTTP
internal import PlaybackGrants

/// The header fields that the gate reads of a request.
enum GateField {
    static let attempt: HTTPFieldName = "X-Media-Token-Attempt"
    static let authorization: HTTPFieldName = "Authorization"
    static let cookie: HTTPFieldName = "Cookie"
    static let forwardedFor: HTTPFieldName = "X-Forwarded-For"
    static let forwardedHost: HTTPFieldName = "X-Forwarded-Host"
    static let forwardedMethod: HTTPFieldName = "X-Forwarded-Method"
    static let forwardedURI: HTTPFieldName = "X-Forwarded-Uri"
    static let grant = HTTPFieldName(CommonAccessToken.name)
    static let idempotencyKey: HTTPFieldName = "Idempotency-Key"
    /// The method and the target of a client's request, as NGINX Gateway Fabric names them.
    static let (method, path): (HTTPFieldName, HTTPFieldName) = ("Method", "Path")
    static let origin: HTTPFieldName = "Origin"
    static let originalHost: HTTPFieldName = "X-Original-Host"
    static let originalMethod: HTTPFieldName = "X-Original-Method"
    static let originalURI: HTTPFieldName = "X-Original-URI"
    static let originalURL: HTTPFieldName = "X-Original-URL"
    static let request: HTTPFieldName = "X-Request-Id"
    static let requestor: HTTPFieldName = "X-Requestor-Id"
    static let resource: HTTPFieldName = "X-Resource-Id"
    /// The usual field with the token of a request to a stream.
    static let streamToken: HTTPFieldName = "X-Media-Token"
    static let token: HTTPFieldName = "X-Adobe-Primetime-MediaToken"
    static let traceParent: HTTPFieldName = "traceparent"
    static let userAgent: HTTPFieldName = "User-Agent"
}
