package import Basics
internal import StreamPaths

/// What the gate needs to check a route's grants.
package struct GrantVerifier: RouteVerifier {
    package let tokens: CommonAccessToken
    /// The issuer that a grant must name; `nil` if a grant from any holder of the key is accepted.
    package let issuer: String?
    /// The seconds from a grant's issue time until which the gate renews it; `nil` if the gate renews no grant.
    package let renewsUntil: Int64?

    /// The grant that replaces one with these claims, which opens a request at `now`; `nil` unless it is due.
    ///
    /// - Throws: ``GrantError`` if it cannot be made.
    package func renewed(_ claims: CATClaims, at now: Timestamp) throws(GrantError) -> Grant? {
        guard let renewsUntil, let claims = claims.renewed(until: renewsUntil, at: now.wholeSeconds) else { return nil }
        return try tokens.grant(claims)
    }
}

extension CommonAccessToken {
    /// Makes tokens for everything below a route's prefix.
    package func maker(for route: GrantTarget, _ values: GrantValues) throws(GrantError) -> RouteGrantMaker {
        var claims = CATClaims()
        (claims.issuer, claims.methods) = (values["issuer"], values.has("methods") ? values.all("methods") : nil)
        claims.renewal = try CATRenewal(in: values)
        claims.scope.pathPrefix = route.prefix
        let verifier = GrantVerifier(
            tokens: self, issuer: claims.issuer, renewsUntil: values["renew-until"].flatMap { Int64($0) })
        let isRenewedHere = route.delivery == .cookie && claims.renewal?.kind.setsCookie == true
        // Unreached: Refuses a configured renewal when the gate starts; the properties' renewals have a bound.
        guard isRenewedHere == (verifier.renewsUntil != nil) else {
            throw GrantError(
                "renew-until",
                isRenewedHere
                    ? "is missing; expected the seconds from a grant's issue until which the gate renews it"
                    : "is given, and the gate renews no grant; expected it with renew as cookie or automatic, and delivery cookie"
            )
        }
        // The claims for any host, or for each host that the route names.
        let terms = route.hosts.isEmpty ? CATTerms(claims) : nil
        var termsByHost: [String: CATTerms] = [:]
        for host in route.hosts {
            claims.scope.host = host.name
            termsByHost[host.name] = CATTerms(claims)
        }
        return RouteGrantMaker(opensPrefix: true, verifier: verifier) {
            [termsByHost] (url, period, issuedAt, identifier) throws(GrantError) in
            // Unreached: A route is found by its host, so its host has terms; the line satisfies the type.
            guard let terms = terms ?? url.origin.flatMap({ termsByHost[$0.host.name] }) else {
                throw GrantError("url", "is '\(printable(url.text))'; expected one on a host of its route")
            }
            return try grant(terms, period, issuedAt: issuedAt, identifier: identifier)
        }
    }
}
