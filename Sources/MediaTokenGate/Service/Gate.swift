package import HTTPServing
internal import MediaToken
internal import StreamPaths
package import Timestamps

/// Turns a request into the task that the gate has to do for it. It has no sockets, no clock and no state.
package struct Gate: Sendable {
    private let routes: GateRoutes
    private let sources: TokenSources
    private let comparesCanonically: Bool

    /// - Parameters:
    ///   - routes: The rule for each path of the streams.
    ///   - sources: The places where a proxy's request may carry a token.
    ///   - comparesCanonically: Whether `/v1/verify` and `/v1/play` compare MRSS resources as canonical XML.
    package init(
        routes: [GateRoute] = [], sources: TokenSources = TokenSources(), comparesCanonically: Bool = false
    ) {
        (self.routes, self.sources, self.comparesCanonically) = (GateRoutes(routes), sources, comparesCanonically)
    }

    /// The task for `request`.
    package func task(_ request: HTTPRequest, at now: Timestamp) -> GateTask {
        switch request.path {
        // Verifying and explaining have separate paths, so that 200 from /v1/verify has one meaning.
        case "/v1/verify", "/v1/explain":
            guard request.method == "POST" else { return .methodNotAllowed("POST") }
            let reader = VerifyRequestReader(comparesCanonically: comparesCanonically)
            return reader.task(request, explains: request.path == "/v1/explain")
        case "/v1/play":
            guard request.method == "POST" else { return .methodNotAllowed("POST") }
            return PlayRequestReader(routes: routes, comparesCanonically: comparesCanonically).task(
                request, at: now)
        // nginx's auth_request (nginx.org, ngx_http_auth_request_module) and HAProxy, with the guides' headers.
        case "/v1/authz/auth-request":
            return authorize(
                ProxiedRequest(
                    request, target: request.one("X-Original-URI"), method: request.one("X-Original-Method"),
                    host: request.one("X-Original-Host"), attempt: request.one("X-Media-Token-Attempt")), at: now)
        // Caddy and Traefik (see their documentation of forward authentication).
        case "/v1/authz/forward-auth":
            return authorize(
                ProxiedRequest(
                    request, target: request.one("X-Forwarded-Uri"), method: request.one("X-Forwarded-Method"),
                    host: request.one("X-Forwarded-Host")), at: now)
        case let path where path.utf8.starts(with: Self.extAuthz.utf8):
            // Envoy appends the client's target to the prefix, and uses the client's method and host.
            let target = String(path.dropFirst(Self.extAuthz.utf8.count)) + (request.query.map { "?" + $0 } ?? "")
            return authorize(
                ProxiedRequest(request, target: target, method: request.method, host: request.one("Host")), at: now)
        default: return .notFound
        }
    }

    private static let extAuthz = "/v1/authz/ext-authz"

    private func authorize(_ proxied: ProxiedRequest, at now: Timestamp) -> GateTask {
        // A proxy asks without a body. Bytes after its headers may belong to another request, or imitate one.
        guard proxied.question.body.isEmpty, let target = proxied.target, let path = StreamPath(target),
            let route = routes.route(to: path, on: proxied.streamHost)
        else {
            return .subrequest(403, .routeUnknown)
        }
        guard case .token(let expectation) = route.access else { return .subrequest(200, .tokenNotRequired) }
        let grant = route.grantAnswer(to: proxied, for: path, at: now)
        if case .opens? = grant { return .subrequest(200, .grantValid) }
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let query = mark.map { String(target[target.utf8.index(after: $0)...]) }
        switch sources.find(in: proxied.question, originalQuery: query) {
        case .none:
            if case .refused(let reason)? = grant { return .subrequest(403, .grantRefused, reason) }
            return .subrequest(401, .tokenMissing)
        case .several: return .subrequest(401, .tokenAmbiguous)
        case .one(let token):
            let verification = VerificationRequest(
                token: RawToken(token), expectation: expectation,
                retries: proxied.retries(within: route.attemptWindow))
            return .verify(VerificationTask(verification, .subrequest))
        }
    }
}

extension GateSettings {
    /// The gate with these settings.
    package var gate: Gate { Gate(routes: routes, sources: sources, comparesCanonically: comparesCanonically) }
}

extension HTTPRequest {
    /// The value of the header; `nil` unless the header occurs exactly once.
    fileprivate func one(_ name: String) -> String? {
        let values = values(of: name)
        return values.count == 1 ? values[0] : nil
    }
}

extension GateTask {
    /// The answer to a proxy without a verdict. All proxies understand the statuses 200, 401 and 403 in the same way.
    fileprivate static func subrequest(_ code: Int, _ status: GateStatus, _ detail: String? = nil) -> GateTask {
        var headers = [(name: GateHeader.status, value: status.rawValue), GateHeader.noStore]
        if let detail { headers.append((GateHeader.detail, GateHeader.value(detail))) }
        if code == 401 { headers.append(GateHeader.challenge(error: nil)) }
        return .settled(GateReply(HTTPAnswer(code, headers: headers), status: status.rawValue))
    }

    fileprivate static func methodNotAllowed(_ allowed: String) -> GateTask {
        let problem = RequestError(405, .requestInvalid, "expected \(allowed)")
        var answer = problem.answer
        answer.headers.append(("Allow", allowed))
        return .settled(GateReply(answer, status: GateStatus.requestInvalid.rawValue))
    }

    fileprivate static var notFound: GateTask {
        .settled(
            RequestError(
                404, .requestInvalid,
                "nothing is here; expected /v1/verify, /v1/play, /v1/explain or one of /v1/authz/…"
            )
            .reply)
    }
}
