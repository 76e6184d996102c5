internal import HTTPMessages
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings

/// Reads a request to `POST /v1/play`: the fields of `/v1/verify`, and the stream's URL or path. The route of that path
/// determines what the token must be for and which grant it is exchanged for.
struct PlayRequestReader {
    let routes: GateRoutes
    let comparesCanonically: Bool

    func task(_ request: HTTPRequest, at now: Timestamp) -> GateTask {
        do throws(RequestError) {
            let sent = try VerifyRequestFields(request)
            let text = try sent.one("url", or: "path")
            guard let url = StreamURL(text) else {
                throw .invalid(
                    "the url is '\(printable(text))'; expected an unambiguous absolute path or http(s) URL"
                )
            }
            guard url.origin != nil || !routes.nameHosts else {
                throw .invalid(
                    "the url is '\(printable(text))'; expected one with a host, since routes name their hosts")
            }
            guard let route = routes.route(to: url.path, on: url.origin?.host) else {
                throw RequestError(
                    403, .routeUnknown,
                    "no route names '\(printable(text))', or a server might take it for a path of another")
            }
            guard case .token(let expectation) = route.access, let grant = route.grant else {
                throw .invalid("the route of '\(printable(text))' has no grant; expected one in its configuration")
            }
            let verification = VerificationRequest(
                token: RawToken(sent.body.token), expectation: try narrowed(expectation, sent),
                retries: try retries(request, of: url, within: grant.settings.retryWindow))
            do throws(GrantError) {
                return .verify(VerificationTask(verification, .document, order: try grant.order(for: url, at: now)))
            } catch {
                throw .invalid("the grant cannot be made: \(error)")
            }
        } catch {
            return .settled(error.reply)
        }
    }

    /// The lengths of an `Idempotency-Key` in bytes, quotes included; the player sends the same key with each attempt
    /// at one play (draft-ietf-httpapi-idempotency-key-header). Anyone who has the token could guess a shorter key.
    private static let keyLengths = RetryWindow.shortestSecret...255

    private func retries(
        _ request: HTTPRequest, of url: StreamURL, within window: Duration?
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
        // The secret includes the URL, because another URL needs another grant. No key contains a zero byte.
        return RetryWindow(secret: Array(key) + [0] + url.text.utf8, within: window)
    }

    /// The caller's expectation, which must be within the route's. Anything left out is taken from the route.
    private func narrowed(_ route: Expectation, _ sent: borrowing VerifyRequestFields) throws(RequestError)
        -> Expectation
    {
        var (requestors, resource) = (route.requestors, route.resource)
        if let given = try sent.requestor().map({ RequestorID($0) }) {
            guard requestors.contains(given) else {
                throw .invalid(
                    "the requestor is '\(given)'; its route is for \(printableList(requestors.map(\.description)))")
            }
            if requestors.count > 1 { requestors = [given] }
        }
        if let given = try sent.resource().map({ ResourceID($0) }) {
            guard resource.matches(given) else {
                throw .invalid(
                    "the resource is '\(given)'; its route is for \(printableList(resource.resources.map(\.description)))"
                )
            }
            let comparison: ResourceRule.Comparison = comparesCanonically ? .canonical : .exact
            if resource.comparison != comparison || !resource.namesOnly(given) {
                resource = comparesCanonically ? .canonically([given]) : .exactly(given)
            }
        }
        return Expectation(requestors: requestors, resource: resource)
    }
}
