internal import HTTPMessages
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings

/// What a token must be for, and who may ask for its grant again, when a caller wants to play a stream.
struct TokenExchange {
    let routes: GateRoutes
    let comparesCanonically: Bool

    /// Reads the URL of a stream, and finds its route.
    ///
    /// - Parameter field: What the request has the URL in, for messages.
    func route(to text: String, in field: String) throws(RequestError) -> (GateRoute, StreamURL) {
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

    /// The caller's expectation, which must be within the route's. Anything left out is taken from the route. A resource that the
    /// caller names is compared as `/v1/verify` compares, whatever the route says.
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
            if resource.comparison != comparison || !resource.namesOnly(given) {
                resource = comparesCanonically ? .canonically([given]) : .exactly(given)
            }
        }
        return Expectation(requestors: requestors, resource: resource)
    }

    /// The lengths of an `Idempotency-Key` in bytes, quotes included; the player sends the same key with each attempt
    /// at one play (draft-ietf-httpapi-idempotency-key-header). Anyone who has the token could guess a shorter key.
    private static let keyLengths = RetryWindow.shortestSecret...255

    /// Lets a client fetch its grant again; `nil` if the route does not allow it, or the client sends no key.
    ///
    /// - Parameter target: What the grant is for. A retry with the same key is allowed for the same target only.
    func retries(
        _ request: HTTPRequest, of target: String, within window: Duration?
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
        // The secret includes the target, because another one needs another grant. No key contains a zero byte.
        return RetryWindow(secret: Array(key) + [0] + target.utf8, within: window)
    }
}

extension RequestError {
    /// Why no grant can be made.
    ///
    /// - Parameter field: What the request has the stream's URL in.
    static func noGrant(_ error: GrantError, for field: String) -> Self {
        // Unreached: Names the field of a grant that cannot be made, for the message; the tests of plays have it.
        .invalid("the grant cannot be made: \(error.field == "url" ? field : error.field): \(error.reason)")
    }
}
