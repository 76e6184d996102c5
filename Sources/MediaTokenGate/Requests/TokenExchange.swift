internal import Basics
internal import HTTP
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths

/// What names the stream of a request that exchanges a token.
enum PlayTarget {
    /// A URL or path, and what the request has it in, for messages. Where allowed, a URL that ends in `/*`
    /// stands for everything below it.
    case url(String, in: String, mayBePrefix: Bool)
    /// All of a route, which the configuration names.
    case route(GateRoute)
}

/// The requestor and the resource that a request names.
typealias SentNames = (requestor: String?, resource: String?)

/// What a token must be for, and who may ask for its grant again, when a caller wants to play a stream.
struct TokenExchange {
    let routes: GateRoutes
    let comparesCanonically: Bool

    /// The task of exchanging a token for a grant. The route of the stream determines what the token must be for, and
    /// the grant.
    ///
    /// - Parameters:
    ///   - format: The form of the answer. It has the grant, so it may not fit every route.
    ///   - names: Reads what the request names, once its route is known.
    func task(
        _ request: HTTPRequest, _ token: RawToken, _ target: PlayTarget, _ format: AnswerFormat, at now: Timestamp,
        names: () throws(RequestError) -> SentNames
    ) throws(RequestError) -> GateTask {
        let (route, wanted, field) = try find(target)
        return format.task { () throws(RequestError) in
            guard case .token(let expectation) = route.access else {
                throw .invalid("the stream is open, and needs no token")
            }
            let namesStream = if case .one = wanted { true } else { false }
            try format.check(route.grant, of: route.path.text, namesStream: namesStream)
            let (requestor, resource) = try names()
            let verification = VerificationRequest(
                token: token,
                expectation: try narrowed(expectation, toRequestor: requestor, resource: resource),
                retries: try retries(request, of: wanted, within: route.grant?.settings.retryWindow))
            do throws(GrantError) {
                let order = try route.grant?.order(for: wanted, at: now)
                return .verify(VerificationTask(verification, format, order: order))
            } catch {
                // Unreached: Names the field of a grant that cannot be made, for the message; the tests of plays have
                // it.
                let place = error.field == "url" ? field : error.field
                throw .invalid("the grant cannot be made: \(place): \(error.reason)")
            }
        }.on(route)
    }

    /// The route of a stream, what the grant is to open, and what messages call the place of its URL.
    private func find(_ target: PlayTarget) throws(RequestError) -> (GateRoute, WantedStream, field: String) {
        switch target {
        case .route(let route): return (route, .allOf(path: route.path.text, hosts: route.hosts), "url")
        case .url(let text, let field, let mayBePrefix):
            let isPrefix = mayBePrefix && text.hasSuffix("/*") && !text.utf8.contains(UInt8(ascii: "?"))
            let (route, url) = try find(isPrefix ? String(text.dropLast()) : text, in: field)
            return (route, isPrefix ? .allBelow(url) : .one(url), field)
        }
    }

    private func find(_ text: String, in field: String) throws(RequestError) -> (GateRoute, StreamURL) {
        func refusal(_ reason: String) -> String { "the \(field) is '\(printable(text))'; \(reason)" }
        let url: StreamURL
        do throws(StreamPathError) { url = try StreamURL(reading: text) } catch {
            let isRelative = error == .relative
            throw .invalid(refusal(isRelative ? "expected a path that begins with / or an http(s) URL" : "\(error)"))
        }
        guard url.origin != nil || !routes.nameHosts else {
            throw .invalid(refusal("expected one with a host, since routes name their hosts"))
        }
        do throws(RouteError) {
            return (try routes.route(to: url.path, on: url.origin?.host), url)
        } catch {
            throw RequestError(403, .routeUnknown, refusal("\(error)"))
        }
    }

    /// The rule for a resource that a caller names.
    func rule(for resource: ResourceID) -> ResourceRule {
        comparesCanonically ? .canonically([resource]) : .exactly(resource)
    }

    /// The caller's expectation, which must be within the route's. Anything left out is taken from the route. A
    /// resource that the caller names is compared as `/v1/verify` compares, whatever the route says.
    func narrowed(
        _ route: Expectation, toRequestor requestor: String?, resource sent: String?
    ) throws(RequestError) -> Expectation {
        var (requestors, resource) = (route.requestors, route.resource)
        if let given = requestor.map({ RequestorID($0) }) {
            guard requestors.contains(given) else {
                throw .invalid(
                    "the requestor is '\(given)'; its route is for \(printableList(requestors.map(\.description)))")
            }
            if requestors.count > 1 { requestors = [given] }
        }
        if let given = sent.map({ ResourceID($0) }) {
            guard resource.matches(given) else {
                throw .invalid(
                    "the resource is '\(given)'; its route is for \(printableList(resource.resources.map(\.description)))"
                )
            }
            let comparison: ResourceRule.Comparison = comparesCanonically ? .canonical : .exact
            if resource.comparison != comparison || !resource.namesOnly(given) { resource = rule(for: given) }
        }
        return Expectation(requestors: requestors, resource: resource)
    }

    /// The lengths of an `Idempotency-Key` in bytes, quotes included; the player sends the same key with each attempt
    /// at one play (draft-ietf-httpapi-idempotency-key-header). Anyone who has the token could guess a shorter key.
    private static let keyLengths = RetryWindow.shortestSecret...255

    /// Lets a client fetch its grant again; `nil` if the route does not allow it, or the client sends no key. A retry
    /// with the same key is allowed for the same stream only.
    private func retries(
        _ request: HTTPRequest, of wanted: WantedStream, within window: Duration?
    ) throws(RequestError) -> RetryWindow? {
        guard let window else { return nil }
        let keys = request.values(of: GateField.idempotencyKey)
        guard let key = keys.first else { return nil }
        guard keys.count == 1, Self.keyLengths.contains(key.count),
            key.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw .invalid(
                "the Idempotency-Key is not usable; expected one, of \(Self.keyLengths.lowerBound) to "
                    + "\(Self.keyLengths.upperBound) visible characters, made at random for each play")
        }
        // The secret includes the stream, because another one needs another grant. No key contains a zero byte.
        return RetryWindow(secret: Array(key) + [0] + wanted.identity.utf8, within: window)
    }
}
