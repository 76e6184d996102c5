internal import MediaToken
package import PlaybackGrants
package import StreamPaths
internal import TextEncodings
internal import Timestamps

/// What the media token of a route is exchanged for, as it is configured.
package struct RouteGrantSettings: Sendable, Equatable {
    /// How it gets to the player.
    package enum Delivery: String, Sendable, CaseIterable {
        /// Behind the stream's URL.
        case query
        /// By `Set-Cookie`.
        case cookie
    }

    package var maker: GrantSettings
    /// Seconds from the verdict on.
    package var validity: Int64 = 14_400
    /// The origins whose URLs may be exchanged; empty for any, which CloudFront's kind does not allow.
    package var origins: [StreamOrigin] = []
    /// Paths below it are opened, where the kind knows paths.
    package var scope: String
    package var delivery: Delivery
    package var cookieDomain: String?
    package var issuer: String?
    package var methods: [String]?
    package var renewal: CATRenewal?
    /// For how long whoever got a grant gets it again under the same `Idempotency-Key`; `nil` for never.
    package var retryWindow: Duration?

    package init(_ maker: GrantSettings, scope: String) {
        (self.maker, self.scope) = (maker, scope)
        delivery = maker.kind == .cat ? .cookie : .query
    }
}

/// The same with its key: makes grants, and checks those that the gate takes itself.
final class RouteGrant: Sendable {
    private let maker: GrantMaker
    let settings: RouteGrantSettings
    /// The scope with a slash at its end, as all begin that lies below it.
    private let prefix: String
    private let scopePath: StreamPath
    private let lenientScope: LenientPath
    /// What Common Access Tokens say on each of the route's hosts, by the host's name.
    private let termsByHost: [String: CATTerms]
    /// What Common Access Tokens say if the route names no hosts.
    private let terms: CATTerms?

    /// Reads the key.
    ///
    /// - Parameter hosts: The virtual hosts of the route; empty if it names none.
    /// - Throws: ``GrantProblem`` also if the scope could be read in two ways.
    init(_ settings: RouteGrantSettings, hosts: [StreamHost]) throws(GrantProblem) {
        // With an escape it would have two spellings, and CDNs do not agree which one is compared. The others are wildcards.
        guard let path = StreamPath(settings.scope), !settings.scope.utf8.contains(where: "%*?;".utf8.contains) else {
            throw GrantProblem(
                "scope",
                "is '\(printable(settings.scope))'; expected a path from / on, without escapes, *, ?, ;, . or ..")
        }
        maker = try GrantMaker(settings.maker)
        if case .secureLink(let link) = maker {
            // nginx compares one URI; without it the link would open all that the expression guards, whatever the scope is.
            guard link.namesURI else {
                throw GrantProblem("expression", "has no $uri; expected it, so that a link is for one")
            }
            guard settings.delivery == .query else {
                throw GrantProblem("delivery", "is cookie; expected query, as a secure_link is for one URI")
            }
        }
        if case .cloudFront = maker, settings.origins.isEmpty { throw Self.originsMissing }
        (self.settings, scopePath, lenientScope) = (settings, path, LenientPath(path))
        prefix = settings.scope.utf8.last == UInt8(ascii: "/") ? settings.scope : settings.scope + "/"
        var claims = CATClaims()
        (claims.issuer, claims.methods, claims.renewal) = (settings.issuer, settings.methods, settings.renewal)
        claims.scope.pathPrefix = prefix
        terms = hosts.isEmpty ? CATTerms(claims) : nil
        var termsByHost: [String: CATTerms] = [:]
        for host in hosts {
            claims.scope.host = host.name
            termsByHost[host.name] = CATTerms(claims)
        }
        self.termsByHost = termsByHost
        let origin = settings.origins.first?.text ?? "https://\(hosts.first?.name ?? "host")"
        guard let sample = StreamURL(origin + prefix + "sample") else {
            throw GrantProblem("scope", "is '\(printable(settings.scope))', and no URL lies below it")
        }
        _ = try make(sample, identifier: nil, at: .now)
    }

    static let originsMissing = GrantProblem(
        "origins",
        "is missing; expected the origins of the distribution, such as https://cdn.example, as CloudFront signs whole URLs"
    )

    /// Whether its scope is a path of that route.
    func isWithin(_ path: StreamPath) -> Bool { scopePath.isWithin(path) }

    /// What can be made for `url`: all that could be wrong with it is known before the token is used up.
    func order(for url: StreamURL, at now: Timestamp) throws(GrantProblem) -> GrantOrder {
        guard settings.origins.isEmpty || url.origin.map(settings.origins.contains) ?? false else {
            throw GrantProblem(
                "url",
                "is '\(printable(url.text))'; expected an absolute URL on \(printableList(settings.origins.map(\.text)))"
            )
        }
        let depth = url.path.names.count - scopePath.names.count
        guard url.path.isWithin(scopePath), depth > 0 || !opensAll else {
            throw GrantProblem(
                "url", "is '\(printable(url.text))'; expected one below \(printable(settings.scope))")
        }
        let period = try GrantPeriod(from: now, seconds: settings.validity)
        // The URL is a part of its policy. All that goes into the others was tried when the settings were read.
        if case .cloudFront(let maker) = maker { _ = try maker.policy(for: try signedURL(url), period) }
        return GrantOrder(grant: self, url: url)
    }

    fileprivate func make(_ url: StreamURL, identifier: [UInt8]?, at now: Timestamp) throws(GrantProblem) -> Grant {
        let period = try GrantPeriod(from: now, seconds: settings.validity)
        switch maker {
        case .akamai(let maker): return try maker.grant(.acl([prefix + "*"]), period)
        case .cloudFront(let maker): return try maker.grant(url: signedURL(url), period)
        case .secureLink(let maker): return try maker.grant(uri: url.path.uri, period)
        case .cat(let maker):
            guard let terms = terms ?? url.origin.flatMap({ termsByHost[$0.host.name] }) else {
                throw GrantProblem("url", "is '\(printable(url.text))'; expected one on a host of its route")
            }
            return try maker.grant(terms, period, issuedAt: now.milliseconds / 1000, identifier: identifier)
        }
    }

    /// One URL, or by cookies all below the scope.
    private func signedURL(_ url: StreamURL) throws(GrantProblem) -> String {
        guard let origin = url.origin else {
            throw GrantProblem("url", "is '\(printable(url.text))'; expected an absolute URL, which CloudFront signs")
        }
        guard settings.delivery == .query else { return origin.text + prefix + "*" }
        // CloudFront would take it for any letter, and so open other files, of other routes too.
        guard !url.text.utf8.contains(UInt8(ascii: "?")) else {
            throw GrantProblem("url", "is '\(printable(url.text))'; expected one without a query, for CloudFront")
        }
        return url.text
    }

    /// Whether it opens all that lies below its scope, and not one URL.
    private var opensAll: Bool {
        switch maker {
        case .akamai, .cat: true
        case .cloudFront: settings.delivery == .cookie
        case .secureLink: false
        }
    }

    /// Whether it opens, at its CDN, something of another route, or is made for that altogether; also where a lenient origin alone
    /// would take the one for the other.
    ///
    /// - Parameters:
    ///   - route: its own.
    ///   - other: another one.
    func reaches(beyond route: GateRoute, into other: GateRoute) -> Bool {
        if lenientScope.lies(within: other.lenientPath), other.lenientPath.lies(within: route.lenientPath) {
            return true
        }
        // A Common Access Token may be wider: the gate refuses it below a nearer route.
        if case .cat = maker { return false }
        return opensAll && other.lenientPath.lies(within: lenientScope)
    }

    /// Takes its grants in the place of media tokens; `nil` where only a CDN does.
    var checker: GrantChecker? {
        guard case .cat(let tokens) = maker else { return nil }
        return GrantChecker(tokens: tokens, issuer: settings.issuer, ownPrefix: prefix)
    }
}

/// A grant that is made once a token has been found valid.
package struct GrantOrder: Sendable {
    fileprivate let grant: RouteGrant
    fileprivate let url: StreamURL

    /// What the player is given.
    struct Play {
        let url: String
        let cookies: [String]
        /// Seconds since 1970.
        let expires: Int64
    }

    /// Whoever asks again gets what they got: it is counted from the token's first use.
    func fulfil(for token: VerifiedToken, at now: Timestamp) throws(GrantProblem) -> Play {
        let made = try grant.make(url, identifier: token.replayKey.identifier, at: token.firstUse)
        let expires = made.expires.milliseconds / 1000
        switch grant.settings.delivery {
        case .query: return Play(url: made.appended(to: url.text), cookies: [], expires: expires)
        case .cookie:
            let path = grant.settings.scope
            let cookies = made.cookies(path: path, domain: grant.settings.cookieDomain, at: now)
            return Play(url: url.text, cookies: cookies, expires: expires)
        }
    }
}

extension ReplayKey {
    /// Half of it: enough to find the token's verdict by, and of no use to anybody.
    fileprivate var identifier: [UInt8] {
        withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian)) { Array($0) }
    }
}
