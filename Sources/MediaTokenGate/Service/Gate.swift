package import Basics
package import HTTP
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths

/// Turns a request into the task that the gate has to do for it. It has no sockets, no clock and no state.
package struct Gate: Sendable {
    private let exchange: TokenExchange
    private let sources: TokenSources
    private let dialects: [DialectReaders]
    private let corsOrigins: CORSOrigins
    private let decisionMaxAge: Duration
    private let reportsOnly: Bool

    /// - Parameters:
    ///   - routes: The rule for each path of the streams.
    ///   - sources: The places where a proxy's request may carry a token.
    ///   - comparesCanonically: Whether `/v1/verify` and `/v1/play` compare MRSS resources as canonical XML.
    ///   - dialects: The paths at which apps ask as they asked another service.
    ///   - corsOrigins: The origins whose pages may call the gate.
    ///   - decisionMaxAge: The time for which a proxy may keep an answer that needs no token.
    ///   - reportsOnly: Whether the gate only reports what it would refuse, whatever the request is for.
    package init(
        routes: [GateRoute] = [], sources: TokenSources = TokenSources(), comparesCanonically: Bool = false,
        dialects: [Dialect] = [], corsOrigins: CORSOrigins = CORSOrigins(), decisionMaxAge: Duration = .zero,
        reportsOnly: Bool = false
    ) {
        let exchange = TokenExchange(routes: GateRoutes(routes), comparesCanonically: comparesCanonically)
        (self.exchange, self.sources) = (exchange, sources)
        self.dialects = DialectReaders.all(dialects, routes)
        (self.corsOrigins, self.decisionMaxAge, self.reportsOnly) = (corsOrigins, decisionMaxAge, reportsOnly)
    }

    /// The header fields by which a browser decides whether a page may read the answer; empty unless the settings name
    /// origins and the request asks an endpoint for backends.
    package func corsFields(for request: HTTPRequest) -> [(name: StaticString, value: String)] {
        corsFields(for: request, asking: place(of: request))
    }

    /// The header fields by which a browser decides whether a page may read the answer to a request whose place is
    /// known.
    func corsFields(for request: HTTPRequest, asking place: GateDestination?) -> [(name: StaticString, value: String)] {
        guard !corsOrigins.isEmpty, let place, place.isForBackends else { return [] }
        return corsOrigins.fields(for: request.onlyValue(of: GateField.origin) ?? [])
    }

    /// The part of the gate that a request asks; `nil` if the gate has nothing at its path.
    func place(of request: HTTPRequest) -> GateDestination? {
        let path = request.path
        if let endpoint = GateEndpoint(path) { return .endpoint(endpoint) }
        return dialects.first { path.elementsEqual($0.path.utf8) }.map(GateDestination.dialects)
    }

    /// The task for a request.
    package func task(_ request: HTTPRequest, at now: Timestamp) -> GateTask {
        task(request, asking: place(of: request), at: now)
    }

    /// The task for a request whose place is known.
    func task(_ request: HTTPRequest, asking place: GateDestination?, at now: Timestamp) -> GateTask {
        guard let place else { return .notFound(request) }
        let task = task(request, at: place, now)
        // Unreached: The properties' gates decide in earnest.
        return reportsOnly ? task.reportingOnly(isForProxy: !place.isForBackends) : task
    }

    private func task(_ request: HTTPRequest, at place: GateDestination, _ now: Timestamp) -> GateTask {
        let isPreflight = !corsOrigins.isEmpty && place.isForBackends && request.method.isSame(as: "OPTIONS")
        switch place {
        case .endpoint(let endpoint):
            return isPreflight ? .ownPreflight : task(request, asking: endpoint, at: now)
        case .dialects(let dialects):
            if isPreflight {
                return .preflight(dialects.methods, reading: dialects.readers.flatMap(\.dialect.headerNames))
            }
            guard let reader = dialects.reader(of: request.method) else {
                return .methodNotAllowed(request, expected: dialects.methods.joined(separator: ", "))
            }
            let format = AnswerFormat.dialect(reader.dialect.answers)
            return format.task { () throws(RequestError) in try reader.task(request, exchange, format, at: now) }
        }
    }

    private func task(_ request: HTTPRequest, asking endpoint: GateEndpoint, at now: Timestamp) -> GateTask {
        if endpoint.isForBackends, !request.method.isSame(as: "POST") { return .methodNotAllowed(request) }
        switch endpoint {
        // Verifying and explaining have separate paths, so that 200 from /v1/verify has one meaning.
        case .verify, .explain:
            return AnswerFormat.document.task { () throws(RequestError) in
                try exchange.verify(request, explains: endpoint == .explain)
            }
        case .play:
            return AnswerFormat.document.task { () throws(RequestError) in try exchange.play(request, at: now) }
        case .authRequest, .forwardAuth, .gatewayFabric, .extAuthz:
            return AnswerFormat.subrequest.task { () throws(RequestError) in
                try authorize(ProxiedRequest(request, at: endpoint), at: now)
            }
        }
    }

    // Most answers of a gate in front of a stream; they are made once.
    private static let tokenNotRequired = GateReply.subrequest(200, .tokenNotRequired)
    private static let grantValid = GateReply.subrequest(200, .grantValid)

    private func authorize(_ proxied: ProxiedRequest, at now: Timestamp) throws(RequestError) -> GateTask {
        let path: StreamPath
        // The path itself is not shown: a client may have put its token there.
        do throws(StreamPathError) { path = try StreamPath(reading: proxied.target) } catch {
            throw .noRoute("\(error)")
        }
        let route: GateRoute
        do throws(RouteError) { route = try exchange.routes.route(to: path, on: proxied.streamHost) } catch {
            let isOwn = GateEndpoint(proxied.target.prefix { $0 != UInt8(ascii: "?") })?.isForBackends ?? false
            throw .noRoute(
                // Unreached: A proxy that asks about the gate's own path; the words of the refusal alone differ.
                isOwn ? "the path is the gate's own; expected the proxy to pass it on, without asking" : "\(error)")
        }
        return authorize(proxied, path, by: route, at: now).on(route, isForProxy: true)
    }

    private func authorize(
        _ proxied: ProxiedRequest, _ path: StreamPath, by route: GateRoute, at now: Timestamp
    ) -> GateTask {
        guard case .token(let expectation) = route.access else {
            return .settled(Self.tokenNotRequired.kept(for: decisionMaxAge.components.seconds, of: proxied))
        }
        let withoutMedia = MethodWithoutMedia(proxied.method)
        let isAllowed = withoutMedia.map(route.allowedMethods.contains) ?? false
        if withoutMedia == .options, isAllowed { return .subrequest(200, .corsPreflight) }
        let grant = route.grantAnswer(to: proxied, for: path, at: now)
        if case .opens(let used, let renewal, let expires)? = grant {
            let reply = Self.grantValid.opened(by: used, renewal)
            // Unreached: A grant without an end; the properties' have one.
            // A second less, since a cache counts whole ones.
            let left = (expires ?? .max) - now.wholeSeconds - 1
            let seconds = reply.grant?.isRenewed == true ? 0 : min(decisionMaxAge.components.seconds, left)
            return .settled(reply.kept(for: seconds, of: proxied))
        }
        let query = proxied.target.position(of: UInt8(ascii: "?")).map { proxied.target[($0 + 1)...] }
        switch sources.find(in: proxied.question, originalQuery: query) {
        case .none:
            if case .refused(let used, let reason)? = grant {
                var reply = GateReply.subrequest(403, .grantRefused, reason)
                reply.grant = used
                return .settled(reply)
            }
            let reason = sources.inWords(missingIn: proxied.question, originalQuery: query)
            return .subrequest(401, .tokenMissing, logged: reason)
        case .several:
            return .subrequest(401, .tokenAmbiguous, logged: "the request has tokens that differ")
        case .tooManyFields:
            return .subrequest(
                401, .tokenAmbiguous, logged: "the stream's query has more than \(FormFields.pairLimit) fields")
        case .one(let token):
            if let withoutMedia {
                guard isAllowed else {
                    return .subrequest(
                        403, .methodWithoutMedia,
                        "\(withoutMedia.rawValue) gets no media, so the token is not consumed; to allow such requests, set "
                            + "\(withoutMedia.setting) on the route")
                }
                var examination = ExplanationRequest(
                    token: RawToken(token), requestors: expectation.requestors, resource: expectation.resource)
                examination.isForProxy = true
                return .explain(examination)
            }
            let verification = VerificationRequest(
                token: RawToken(token), expectation: expectation,
                retries: proxied.retries(within: route.attemptWindow))
            return .verify(VerificationTask(verification, .subrequest))
        }
    }
}

extension GateSettings {
    /// The gate with these settings.
    package var gate: Gate {
        Gate(
            routes: routes, sources: sources, comparesCanonically: comparesCanonically, dialects: dialects,
            corsOrigins: corsOrigins, decisionMaxAge: decisionMaxAge, reportsOnly: reportsOnly)
    }
}

extension GateReply {
    /// The answer that a cache may keep for some seconds, for requests that are the same in all that the gate reads. It
    /// may for GET alone: a client that invents a method could make the key of another request out of it.
    fileprivate func kept(for seconds: Int64, of proxied: ProxiedRequest) -> GateReply {
        guard seconds > 0, proxied.method?.elementsEqual("GET".utf8) == true else { return self }
        // Unreached: The properties' gates have no decision-max-age.
        var reply = GateReply(answer.status, row, detail: detail, caching: "max-age=\(seconds)")
        reply.answer.add("Vary", proxied.endpoint.decidingFields)
        (reply.grant, reply.route) = (grant, route)
        return reply
    }

    /// The answer to a proxy whose client has a grant that opens the stream.
    ///
    /// - Parameters:
    ///   - grant: The grant.
    ///   - renewal: The cookie with the next grant, if that is due; a failure is for the log only, since this grant is
    ///     valid.
    fileprivate func opened(by grant: UsedGrant, _ renewal: Result<HTTPFields?, GrantError>) -> GateReply {
        var reply = self
        reply.grant = grant
        switch renewal {
        case .success(nil): break
        case .success(let cookie?):
            reply.answer.fields.add(cookie)
            reply.grant?.isRenewed = true
        // Unreached: A renewed grant that is too long; what was read from one that is not fits into another.
        case .failure(let error): reply.detail = "the grant is valid, and cannot be renewed: \(error)"
        }
        return reply
    }
}

extension GateTask {
    fileprivate static func subrequest(
        _ status: Int, _ code: GateCode, _ detail: String? = nil, logged: String? = nil
    ) -> GateTask {
        .settled(.subrequest(status, code, detail, logged: logged))
    }

    /// The answer to a browser that asks whether a page may send a request; ``Gate/corsFields(for:)`` says to which
    /// pages.
    fileprivate static func preflight(_ methods: [String], reading names: [String]) -> GateTask {
        var reply = GateReply(204, AnswerCode(.corsPreflight))
        for (name, value) in CORSOrigins.preflight(methods, reading: names) { reply.answer.add(name, value) }
        return .settled(reply)
    }

    /// The answer for the gate's own endpoints.
    fileprivate static let ownPreflight = preflight(
        ["POST"], reading: [GateField.token, GateField.requestor, GateField.resource].map(\.description))

    fileprivate static func methodNotAllowed(_ request: HTTPRequest, expected: String = "POST") -> GateTask {
        let isPage = request.method.isSame(as: "OPTIONS")
        let hint =
            isPage ? "; to let pages in a browser call the gate, list their origins in the setting cors-origin" : ""
        var reply = RequestError(405, .requestInvalid, "expected \(expected)\(hint)").reply
        reply.answer.add("Allow", expected)
        return .settled(reply)
    }

    fileprivate static func notFound(_ request: HTTPRequest) -> GateTask {
        var reason =
            "no endpoint has this path; expected /v1/verify, /v1/play, /v1/explain, one of /v1/authz/… or the path of a dialect"
        if GateAdmin.paths.contains(where: { request.path.isSame(as: $0) }) {
            // Unreached: A path of the admin address; the words of the refusal alone differ.
            reason =
                "this address serves backends and proxies; send the request to the gate's admin address, such as 127.0.0.1:8081"
        }
        return .settled(RequestError(404, .requestInvalid, reason).reply)
    }
}
