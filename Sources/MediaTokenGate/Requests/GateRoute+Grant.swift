internal import Basics
internal import HTTP
internal import MediaToken
internal import PlaybackGrants
internal import StreamPaths

/// The result of checking the playback grants in a request.
enum GrantAnswer {
    /// A grant opens the stream until `expires`, in seconds since 1970. The `Set-Cookie` field has the one that
    /// replaces it, if that is due.
    case opens(UsedGrant, renewal: Result<HTTPFields?, GrantError>, expires: Int64?)
    /// No grant opens the stream; the text says why the first one does not.
    case refused(UsedGrant?, reason: String)
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
        let asked = CATRequest(method: method, host: host?.name, path: path.uri)
        var refused: GrantAnswer?
        for token in sent.prefix(Self.grantLimit) {
            var used: UsedGrant?
            do throws(CATError) {
                let (claims, keyID) = try verifier.tokens.authentic(String(decoding: token, as: UTF8.self))
                let authentic = UsedGrant(token: claims.token, keyID: keyID)
                used = authentic
                try check(claims, opening: asked, verifier, ownPrefix: grant.prefix, at: now)
                let renewal = Result { () throws(GrantError) in try grant.renewal(of: claims, at: now) }
                return .opens(authentic, renewal: renewal, expires: claims.expires)
            } catch {
                refused = refused ?? .refused(used, reason: "\(error)")
            }
        }
        return refused
    }

    /// Checks that a grant opens what `request` asks for. A grant of a broader route does not open this more specific
    /// one, nor does a grant for any host if the route names hosts.
    ///
    /// - Parameter ownPrefix: The path prefix of the route's own grants, which is known to lie within the route.
    /// - Throws: ``CATError`` if the grant does not open it.
    private func check(
        _ claims: CATClaims, opening request: CATRequest, _ verifier: GrantVerifier, ownPrefix: String,
        at now: Timestamp
    ) throws(CATError) {
        guard let prefix = claims.scope.pathPrefix,
            prefix.hasSameBytes(as: ownPrefix) || StreamPath(prefix)?.isWithin(path) ?? false
        else { throw .outOfScope("for no path of this route") }
        guard hosts.isEmpty || claims.scope.host != nil else { throw .outOfScope("for no host of this route") }
        if let refusal = claims.refusal(of: request, issuer: verifier.issuer, at: now) { throw refusal }
    }
}

extension CATClaims {
    /// The short ID of the media token that the grant was made for; `nil` if the grant has no ID, or not one that a
    /// gate gives.
    fileprivate var token: TokenID? {
        // Unreached: A grant without the ID that a gate gives it; the properties' grants are made by the gate.
        guard let identifier, identifier.count == ReplayKey.identifierLength else { return nil }
        return TokenID(word: identifier.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
