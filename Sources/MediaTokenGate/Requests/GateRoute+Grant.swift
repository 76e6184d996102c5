internal import HTTPServer
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings
internal import Timestamps

/// The result of checking the grants that came with a request.
enum GrantAnswer {
    case opens
    /// Why the first grant does not open the stream.
    case refused(String)
}

extension GateRoute {
    /// How many grants of a request are checked. Browsers send the cookies of all paths above, the nearest first (RFC 6265, 5.4).
    private static let grantLimit = 4

    /// Checks the grants in the header and the cookies of a client's request. `nil` results if there are none, and if the gate
    /// takes none for this route.
    func grantAnswer(to proxied: ProxiedRequest, for path: StreamPath, at now: Timestamp) -> GrantAnswer? {
        guard let grant, let verifier = grant.verifier else { return nil }
        let (name, request) = (CommonAccessToken.name, proxied.question)
        let sent =
            request.values(of: name) + request.values(of: "Cookie").flatMap { TokenSources.cookies($0, named: name) }
        let host = hosts.isEmpty ? nil : proxied.streamHost
        let asked = CATRequest(method: proxied.method, host: host?.name, path: path.text)
        var reason: String?
        for token in sent.prefix(Self.grantLimit) {
            guard let refusal = refusal(of: token, to: asked, verifier, ownPrefix: grant.prefix, at: now) else {
                return .opens
            }
            reason = reason ?? "\(refusal)"
        }
        return reason.map { .refused($0) }
    }

    /// Why a grant does not open what `request` asks for; `nil` if it does. This is the nearest route: a grant of a wider one
    /// was made for less and does not open it, and neither does a grant for any host if the route names hosts.
    ///
    /// - Parameter ownPrefix: the path prefix of the grants that the route makes, and so known to lie within it.
    private func refusal(
        of token: String, to request: CATRequest, _ verifier: GrantVerifier, ownPrefix: String, at now: Timestamp
    ) -> CATRefusal? {
        do throws(CATRefusal) {
            let claims = try verifier.tokens.authenticClaims(of: token)
            guard let prefix = claims.scope.pathPrefix,
                prefix.hasSameBytes(as: ownPrefix) || StreamPath(prefix)?.isWithin(path) ?? false
            else { return .outOfScope("for no path of this route") }
            guard hosts.isEmpty || claims.scope.host != nil else {
                return .outOfScope("for no host of this route")
            }
            return claims.refusal(of: request, issuer: verifier.issuer, at: now)
        } catch {
            return error
        }
    }
}
