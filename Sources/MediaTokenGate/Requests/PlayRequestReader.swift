internal import HTTPMessages
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings

/// Reads a request to `POST /v1/play`: the fields of `/v1/verify`, and the stream's URL or path. The route of that path
/// determines what the token must be for and which grant it is exchanged for.
struct PlayRequestReader {
    let exchange: TokenExchange

    func task(_ request: HTTPRequest, at now: Timestamp) -> GateTask {
        var route: String?
        do throws(RequestError) {
            let sent = try VerifyRequestFields(request)
            let (field, text) = try sent.one("url", or: "path")
            let (found, url) = try exchange.route(to: text, in: field)
            route = found.path.text
            guard case .token(let expectation) = found.access, let grant = found.grant else {
                throw .invalid("the route of '\(printable(text))' has no grant; expected one in its configuration")
            }
            let verification = VerificationRequest(
                token: RawToken(sent.body.token),
                expectation: try exchange.narrowed(
                    expectation, toRequestor: sent.requestor(), resource: sent.resource()),
                retries: try exchange.retries(request, of: url.text, within: grant.settings.retryWindow))
            do throws(GrantError) {
                var task = VerificationTask(verification, .document, order: try grant.order(for: url, at: now))
                task.route = route
                return .verify(task)
            } catch {
                throw .noGrant(error, for: field)
            }
        } catch {
            var reply = error.reply
            reply.route = route
            return .settled(reply)
        }
    }
}
