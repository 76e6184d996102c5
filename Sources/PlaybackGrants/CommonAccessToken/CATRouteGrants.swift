package import Basics
internal import StreamPaths

/// A route's grants that the gate can check itself, so that clients may send one to the gate instead of a media token.
package protocol VerifiableGrants: RouteGrants {
    var verifier: GrantVerifier { get }
}

/// What the gate needs to check a route's grants.
package struct GrantVerifier: Sendable {
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

/// Makes Common Access Tokens for everything below a route's prefix.
struct CATRouteGrants: VerifiableGrants {
    private let tokens: CommonAccessToken
    private let issuer: String?
    private let renewsUntil: Int64?
    /// The claims for each of the route's hosts, by the host's name. It is empty if the route names no hosts.
    private let termsByHost: [String: CATTerms]
    /// The claims for any host; `nil` if the route names hosts.
    private let terms: CATTerms?
    var opensPrefix: Bool { true }

    init(tokens: CommonAccessToken, _ route: GrantRoute, _ values: GrantValues) throws(GrantError) {
        var claims = CATClaims()
        (claims.issuer, claims.methods) = (values["issuer"], values.has("methods") ? values.all("methods") : nil)
        claims.renewal = try CATRenewal(in: values)
        claims.scope.pathPrefix = route.prefix
        (self.tokens, issuer) = (tokens, claims.issuer)
        renewsUntil = values["renew-until"].flatMap { Int64($0) }
        let isRenewedHere = route.delivery == .cookie && claims.renewal?.kind.setsCookie == true
        // Unreached: Refuses a configured renewal when the gate starts; the properties' renewals have a bound.
        guard isRenewedHere == (renewsUntil != nil) else {
            throw GrantError(
                "renew-until",
                isRenewedHere
                    ? "is missing; expected the seconds from a grant's issue until which the gate renews it"
                    : "is given, and the gate renews no grant; expected it with renew as cookie or automatic, and delivery cookie"
            )
        }
        terms = route.hosts.isEmpty ? CATTerms(claims) : nil
        var termsByHost: [String: CATTerms] = [:]
        for host in route.hosts {
            claims.scope.host = host.name
            termsByHost[host.name] = CATTerms(claims)
        }
        self.termsByHost = termsByHost
    }

    var verifier: GrantVerifier { GrantVerifier(tokens: tokens, issuer: issuer, renewsUntil: renewsUntil) }

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        // Unreached: A route is found by its host, so its host has terms; the line satisfies the type.
        guard let terms = terms ?? url.origin.flatMap({ termsByHost[$0.host.name] }) else {
            throw GrantError("url", "is '\(printable(url.text))'; expected one on a host of its route")
        }
        return try tokens.grant(terms, period, issuedAt: issuedAt, identifier: identifier)
    }
}
