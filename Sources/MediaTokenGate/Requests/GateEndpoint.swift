internal import Basics
internal import HTTP

/// The part of the gate that a request asks, by its path.
enum GateDestination: Equatable, Sendable {
    case endpoint(GateEndpoint)
    case dialects(DialectReaders)

    // Unreached: Names the place in log and metrics; no property has either.
    /// The path at which it is asked, without what Envoy appends to it.
    var path: String {
        switch self {
        case .endpoint(let endpoint): endpoint.path.description
        case .dialects(let dialects): dialects.path
        }
    }

    // Unreached: Tells apart what the metrics count; no property has metrics.
    static func == (one: GateDestination, other: GateDestination) -> Bool {
        switch (one, other) {
        case (.endpoint(let one), .endpoint(let other)): one == other
        case (.dialects(let one), .dialects(let other)): one.path == other.path
        case (.endpoint, .dialects), (.dialects, .endpoint): false
        }
    }

    /// Whether backends or apps ask there, rather than proxies.
    var isForBackends: Bool {
        if case .endpoint(let endpoint) = self { endpoint.isForBackends } else { true }
    }
}

/// What the gate can be asked, by the path of the request.
enum GateEndpoint: CaseIterable, Sendable {
    case verify, play, explain, authRequest, forwardAuth, gatewayFabric, extAuthz

    /// The gate's own path, without what Envoy appends to it.
    var path: StaticString {
        switch self {
        case .verify: "/v1/verify"
        case .play: "/v1/play"
        case .explain: "/v1/explain"
        case .authRequest: "/v1/authz/auth-request"
        case .forwardAuth: "/v1/authz/forward-auth"
        case .gatewayFabric: "/v1/authz/gateway-fabric"
        case .extAuthz: "/v1/authz/ext-authz"
        }
    }

    /// The header fields in which a proxy names the target, method and host of its client's request; `nil` for what it
    /// asks with itself, as the client did.
    var proxyFields: (target: HTTPFieldName?, method: HTTPFieldName?, host: HTTPFieldName) {
        switch self {
        // Caddy and Traefik (see their documentation of forward authentication).
        case .forwardAuth: (GateField.forwardedURI, GateField.forwardedMethod, GateField.forwardedHost)
        // Unreached: Asked by one proxy, in fields that are read as those of the others are.
        // It passes no header of the client on but those that it is told to (its template of server blocks).
        case .gatewayFabric: (GateField.path, GateField.method, .host)
        // Envoy appends the client's target to the prefix, and uses the client's method and host.
        case .extAuthz, .verify, .play, .explain: (nil, nil, .host)
        // nginx's auth_request (nginx.org, ngx_http_auth_request_module) and HAProxy, with the guides' headers.
        case .authRequest: (GateField.originalURI, GateField.originalMethod, GateField.originalHost)
        }
    }

    // Unreached: Named in answers that a proxy may keep; the properties' gates have no decision-max-age.
    /// The header fields that decide an answer to a proxy which needs no token, in the form of `Vary` (RFC 9110,
    /// 12.5.5). nginx keeps no answer that names more than 128 bytes of them.
    var decidingFields: String {
        let (target, method, host) = proxyFields
        let url = self == .authRequest ? GateField.originalURL : nil
        return [GateField.cookie, GateField.grant, target, url, method, host].compactMap { $0?.description }
            .joined(separator: ", ")
    }

    /// Whether backends ask it, rather than proxies.
    var isForBackends: Bool { self == .verify || self == .play || self == .explain }

    private static let all = allCases

    /// The endpoint of a path; `nil` if the gate has nothing there.
    init?(_ path: ArraySlice<UInt8>) {
        // Envoy appends the client's target to the path.
        let found = Self.all.first { $0 == .extAuthz ? path.begins(with: $0.path) : path.isSame(as: $0.path) }
        guard let found else { return nil }
        self = found
    }
}
