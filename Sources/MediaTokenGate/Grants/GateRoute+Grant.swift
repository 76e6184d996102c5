internal import HTTPServer
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings
internal import Timestamps

/// What the grants that came with a request come to.
enum GrantAnswer {
    case opens
    /// The first one's reason.
    case refused(String)
}

extension GateRoute {
    /// Browsers send the cookies of all paths above, the nearest first (RFC 6265, 5.4).
    private static let most = 4

    /// Checks the grants in the header and the cookies of a client's request. `nil` results if there are none, and if the gate
    /// takes none for this route.
    func grantAnswer(to proxied: ProxiedRequest, for path: StreamPath, at now: Timestamp) -> GrantAnswer? {
        guard let checker = grant?.checker else { return nil }
        let (name, request) = (CommonAccessToken.name, proxied.question)
        let sent =
            request.values(of: name) + request.values(of: "Cookie").flatMap { TokenSources.cookies($0, named: name) }
        let host = hosts.isEmpty ? nil : proxied.streamHost
        let asked = CATRequest(method: proxied.method, host: host?.name, path: path.text)
        var reason: String?
        for token in sent.prefix(Self.most) {
            guard let refusal = checker.refusal(of: token, to: asked, of: self, at: now) else {
                return .opens
            }
            reason = reason ?? "\(refusal)"
        }
        return reason.map { .refused($0) }
    }
}

/// Checks the grants of a route that the gate takes itself.
struct GrantChecker {
    let tokens: CommonAccessToken
    let issuer: String?
    /// Of the grants that the route makes, and so known to lie within it.
    let ownPrefix: String

    /// Why a token does not open what `request` asks for; `nil` if it does.
    ///
    /// - Parameter route: The nearest route. A grant of a wider one was made for less, and does not open this one. Neither does
    ///   a grant for any host if the route names hosts.
    func refusal(of token: String, to request: CATRequest, of route: GateRoute, at now: Timestamp) -> CATRefusal? {
        do throws(CATRefusal) {
            let claims = try tokens.authenticClaims(of: token)
            guard let prefix = claims.scope.pathPrefix,
                prefix.hasSameBytes(as: ownPrefix) || StreamPath(prefix)?.isWithin(route.path) ?? false
            else { return .outOfScope("for no path of this route") }
            guard route.hosts.isEmpty || claims.scope.host != nil else {
                return .outOfScope("for no host of this route")
            }
            return claims.refusal(of: request, issuer: issuer, at: now)
        } catch {
            return error
        }
    }
}
