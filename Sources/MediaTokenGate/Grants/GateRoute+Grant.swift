internal import HTTPServer
internal import MediaToken
internal import PlaybackGrants

/// What the grants that came with a request come to.
enum GrantAnswer {
    case opens
    /// The first one's reason.
    case refused(String)
}

extension GateRoute {
    /// Browsers send the cookies of all paths above, the nearest first (RFC 6265, 5.4).
    private static let most = 4

    /// Looks at the grants in a request's header and cookies; `nil` where there are none, or the gate takes none here.
    ///
    /// - Parameter method: of what the proxy asks about; `nil` where it does not say.
    func grantAnswer(
        to request: HTTPRequest, method: String?, for path: GatePath, at now: Timestamp
    ) -> GrantAnswer? {
        guard let checker = grant?.checker else { return nil }
        let name = CommonAccessToken.name
        let sent =
            request.values(of: name) + request.values(of: "Cookie").flatMap { TokenSources.cookies($0, named: name) }
        var reason: String?
        for token in sent.prefix(Self.most) {
            guard let refusal = checker.refusal(of: token, to: path, method: method, of: self.path, at: now) else {
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

    /// Why a token does not open `path`; `nil` where it does.
    ///
    /// - Parameters:
    ///   - method: of the request; `nil` where the proxy does not say, and only a grant for all methods opens.
    ///   - route: the nearest one. A grant of a wider route, made for less, is none for it.
    func refusal(
        of token: String, to path: GatePath, method: String?, of route: GatePath, at now: Timestamp
    ) -> CATRefusal? {
        do throws(CATRefusal) {
            let claims = try tokens.authenticClaims(of: token)
            guard let prefix = claims.scope.pathPrefix,
                prefix.hasSameBytes(as: ownPrefix) || GatePath(prefix)?.isWithin(route) ?? false
            else { return .outOfScope("for no path of this route") }
            let request = CATRequest(method: method, path: path.text)
            return claims.refusal(of: request, issuer: issuer, at: now)
        } catch {
            return error
        }
    }
}
