internal import Basics
internal import MediaTokenTesting

/// The question that a load test asks a gate, with the headers that a backend or a proxy sends.
package struct GateQuestion: Sendable {
    /// A path of the gate at which it answers questions about playback.
    package enum Endpoint: String, CaseIterable, Sendable {
        case verify = "/v1/verify"
        case play = "/v1/play"
        /// The endpoint of nginx and HAProxy.
        case authRequest = "/v1/authz/auth-request"
        /// The endpoint of Caddy and Traefik.
        case forwardAuth = "/v1/authz/forward-auth"
        /// The endpoint of Envoy, which appends the path of the stream.
        case extAuthz = "/v1/authz/ext-authz"

        /// Whether a proxy asks here, for its client.
        package var isForProxies: Bool { self != .verify && self != .play }
    }

    /// The means by which a client's request, as a proxy describes it, opens the stream.
    package enum Means: String, CaseIterable, Sendable {
        case token, grant, nothing
    }

    package typealias Header = (name: String, value: String)
    package typealias Request = (target: String, headers: [Header], body: [UInt8]?)

    package let endpoint: Endpoint
    package let means: Means
    /// The cookies of a playback grant that each request carries, as the value of a `Cookie` header.
    package var cookies: String?
    private let stream: String
    private let host: String
    private let path: String

    /// - Parameters:
    ///   - stream: The path or the http(s) URL of the stream; empty for `/v1/verify`, which needs none.
    ///   - host: The host of the stream if `stream` is a path.
    package init(_ endpoint: Endpoint, by means: Means, stream: String, host: String) {
        (self.endpoint, self.means, self.stream) = (endpoint, means, stream)
        let parts = stream.hasPrefix("/") ? [] : stream.split(separator: "/", maxSplits: 2)
        self.host = parts.count > 1 ? String(parts[1]) : host
        path = parts.count > 1 ? "/" + (parts.count > 2 ? parts[2] : "") : stream
    }

    /// The question that exchanges a token for the grant with which this question is asked.
    package var exchange: GateQuestion { GateQuestion(.play, by: .token, stream: stream, host: host) }

    /// The request with a token, or with this question's cookies if there is no token.
    package func request(with item: TokenCorpus.Item?) -> Request {
        let body = item?.body ?? []
        switch endpoint {
        case .verify:
            let requestor = PercentEncoding.encode(item?.requestor ?? "")
            let resource = PercentEncoding.encode(item?.resource ?? "")
            return ("\(endpoint.rawValue)?requestor=\(requestor)&resource=\(resource)", [Self.plainText], body)
        case .play:
            let field = stream.hasPrefix("/") ? "path" : "url"
            return ("\(endpoint.rawValue)?\(field)=\(PercentEncoding.encode(stream))", [Self.plainText], body)
        case .authRequest:
            let attempt = ("X-Media-Token-Attempt", TokenRecipe.freshSessionGUID())
            return (endpoint.rawValue, described("Original", "URI") + [attempt] + credential(body), nil)
        case .forwardAuth: return (endpoint.rawValue, described("Forwarded", "Uri") + credential(body), nil)
        case .extAuthz: return (endpoint.rawValue + path, [("Host", host)] + credential(body), nil)
        }
    }

    private static let plainText = ("Content-Type", "text/plain")

    /// The headers by which a proxy describes its client's request.
    private func described(_ prefix: String, _ target: String) -> [Header] {
        [("X-\(prefix)-\(target)", path), ("X-\(prefix)-Method", "GET"), ("X-\(prefix)-Host", host)]
    }

    /// The header with the token, or with the cookies. A header cannot hold every byte, so a token with others than
    /// printable ASCII is sent as Base64.
    private func credential(_ token: [UInt8]) -> [Header] {
        guard !token.isEmpty else { return cookies.map { [("Cookie", $0)] } ?? [] }
        let isPlain = token.allSatisfy { (0x20...0x7E).contains($0) }
        return [("X-Media-Token", isPlain ? String(decoding: token, as: UTF8.self) : Base64.encode(token))]
    }
}
