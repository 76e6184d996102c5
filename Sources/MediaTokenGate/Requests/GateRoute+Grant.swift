internal import HTTPMessages
internal import PlaybackGrants
internal import StreamPaths
internal import TextEncodings

/// The result of checking the playback grants in a request.
enum GrantAnswer {
    /// A grant opens the stream; the `Set-Cookie` field has the one that replaces it, if that is due.
    case opens(renewal: HTTPFields?)
    /// No grant opens the stream; the text says why the first one does not.
    case refused(String)
}

extension GateRoute {
    /// The most grants checked per request. Browsers send cookies of all parent paths, longest first (RFC 6265, 5.4).
    private static let grantLimit = 4

    /// Checks the grants in the header and the cookies of a client's request. The result is `nil` if the request has
    /// none, or if the gate accepts none for this route.
    func grantAnswer(to proxied: ProxiedRequest, for path: StreamPath, at now: Timestamp) -> GrantAnswer? {
        guard let grant, let verifier = grant.verifier else { return nil }
        let request = proxied.question
        let cookies = request.values(of: GateField.cookie)
        let sent =
            request.values(of: GateField.grant)
            + cookies.flatMap { TokenSources.cookies($0, named: CommonAccessToken.name) }
        let host = hosts.isEmpty ? nil : proxied.streamHost
        let method = proxied.method.map { String(decoding: $0, as: UTF8.self) }
        let asked = CATRequest(method: method, host: host?.name, path: path.text)
        var reason: String?
        for token in sent.prefix(Self.grantLimit) {
            let token = String(decoding: token, as: UTF8.self)
            do throws(CATError) {
                let claims = try claims(of: token, opening: asked, verifier, ownPrefix: grant.prefix, at: now)
                return .opens(renewal: grant.renewal(of: claims, at: now))
            } catch {
                reason = reason ?? "\(error)"
            }
        }
        return reason.map { .refused($0) }
    }

    /// The claims of a grant, which opens what `request` asks for. A grant of a broader route does not open this more
    /// specific one, nor does a grant for any host if the route names hosts.
    ///
    /// - Parameter ownPrefix: The path prefix of the route's own grants, which is known to lie within the route.
    /// - Throws: ``CATError`` if the grant does not open it.
    private func claims(
        of token: String, opening request: CATRequest, _ verifier: GrantVerifier, ownPrefix: String, at now: Timestamp
    ) throws(CATError) -> CATClaims {
        let claims = try verifier.tokens.authenticClaims(of: token)
        guard let prefix = claims.scope.pathPrefix,
            prefix.hasSameBytes(as: ownPrefix) || StreamPath(prefix)?.isWithin(path) ?? false
        else { throw .outOfScope("for no path of this route") }
        guard hosts.isEmpty || claims.scope.host != nil else { throw .outOfScope("for no host of this route") }
        if let refusal = claims.refusal(of: request, issuer: verifier.issuer, at: now) { throw refusal }
        return claims
    }
}
