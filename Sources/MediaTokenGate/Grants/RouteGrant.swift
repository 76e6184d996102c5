internal import MediaToken
package import PlaybackGrants

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
    /// Paths at and below it are opened, where the kind knows paths.
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
package struct RouteGrant: Sendable {
    private let maker: GrantMaker
    let settings: RouteGrantSettings
    /// The scope with a slash at its end, as all begin that lies below it.
    private let prefix: String
    private let scopePath: GatePath

    /// Reads the key.
    ///
    /// - Throws: ``GrantProblem`` also where the scope could be read in two ways.
    package init(_ settings: RouteGrantSettings) throws(GrantProblem) {
        // With an escape it would have two spellings, and CDNs do not agree which one is compared. The others are wildcards.
        guard let path = GatePath(settings.scope), !settings.scope.utf8.contains(where: "%*?;".utf8.contains) else {
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
        (self.settings, scopePath) = (settings, path)
        prefix = settings.scope.utf8.last == UInt8(ascii: "/") ? settings.scope : settings.scope + "/"
        guard let sample = StreamURL("https://host" + prefix + "sample") else {
            throw GrantProblem("scope", "is '\(printable(settings.scope))', and no URL lies below it")
        }
        _ = try make(sample, identifier: [], at: .now)
    }

    /// Whether it opens nothing that another route might name.
    func isWithin(_ path: GatePath) -> Bool { scopePath.isWithin(path) }

    /// What can be made for `url`: all that could be wrong with it is known before the token is used up.
    func order(for url: StreamURL, at now: Timestamp) throws(GrantProblem) -> GrantOrder {
        let depth = url.path.segments.count - scopePath.segments.count
        guard url.path.isWithin(scopePath), depth > 0 || !opensAll else {
            throw GrantProblem(
                "url", "is '\(printable(url.text))'; expected one below \(printable(settings.scope))")
        }
        let period = try GrantPeriod(from: now, seconds: settings.validity)
        // The URL is a part of its policy. All that goes into the others was tried when the settings were read.
        if case .cloudFront(let maker) = maker { _ = try maker.policy(for: try signedURL(url), period) }
        return GrantOrder(grant: self, url: url)
    }

    fileprivate func make(_ url: StreamURL, identifier: [UInt8], at now: Timestamp) throws(GrantProblem) -> Grant {
        let period = try GrantPeriod(from: now, seconds: settings.validity)
        switch maker {
        case .akamai(let maker): return try maker.grant(.acl([prefix + "*"]), period)
        case .cloudFront(let maker): return try maker.grant(url: signedURL(url), period)
        case .secureLink(let maker):
            return try maker.grant(uri: url.decodedPath, period)
        case .cat(let maker):
            var claims = CATClaims()
            (claims.issuer, claims.expires, claims.issuedAt) = (settings.issuer, period.end, now.milliseconds / 1000)
            claims.identifier = identifier.isEmpty ? nil : identifier
            (claims.methods, claims.renewal, claims.scope.pathPrefix) = (
                settings.methods, settings.renewal, prefix
            )
            return try maker.grant(claims)
        }
    }

    /// One URL, or by cookies all below the scope.
    private func signedURL(_ url: StreamURL) throws(GrantProblem) -> String {
        guard let origin = url.origin else {
            throw GrantProblem("url", "is '\(printable(url.text))'; expected an absolute URL, which CloudFront signs")
        }
        guard settings.delivery == .query else { return origin + prefix + "*" }
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

    /// Whether the CDN opens with it what another route guards. A Common Access Token is not meant: the gate knows the nearer route.
    func opensTooMuch(_ path: GatePath) -> Bool {
        if case .cat = maker { return false }
        return opensAll && path != scopePath && path.isWithin(scopePath)
    }

    /// Takes its grants in the place of media tokens; `nil` where only a CDN does.
    var checker: GrantChecker? {
        guard case .cat(let tokens) = maker else { return nil }
        return GrantChecker(tokens: tokens, issuer: settings.issuer, ownPrefix: prefix)
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
            let request = CATRequest(method: method ?? "", path: "/" + path.segments.joined(separator: "/"))
            return claims.refusal(of: request, issuer: issuer, at: now)
        } catch {
            return error
        }
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
        [words.0, words.1].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - $0 * 8)) } }
    }
}

/// The URL of a stream, or its path.
struct StreamURL: Sendable {
    let text: String
    /// Scheme and host; `nil` for a path alone.
    let origin: String?
    let path: GatePath

    /// `nil` for what could be read in two ways.
    init?(_ text: String) {
        let schemes = ["https://", "http://"]
        let scheme = schemes.first { text.utf8.starts(with: $0.utf8) }
        let rest = text.utf8.dropFirst(scheme?.utf8.count ?? 0)
        let host = scheme == nil ? rest.prefix(0) : rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let isHost = host.allSatisfy { $0.isLetterOrDigit || ".-:[]".utf8.contains($0) }
        // To CloudFront it is a wildcard, and would sign for more than one URL.
        let isOne = !text.utf8.contains(UInt8(ascii: "*"))
        guard isHost, isOne, scheme == nil || !host.isEmpty, text.utf8.count <= 8192,
            let path = GatePath(String(Substring(rest.dropFirst(host.count))))
        else { return nil }
        (self.text, self.path) = (text, path)
        origin = scheme.map { $0 + String(Substring(host)) }
    }

    /// As a server has it that has decoded it: what nginx calls `$uri`.
    var decodedPath: String {
        let isFolder = text.utf8.prefix { $0 != UInt8(ascii: "?") }.last == UInt8(ascii: "/")
        let bare = "/" + path.segments.joined(separator: "/")
        return isFolder && !path.segments.isEmpty ? bare + "/" : bare
    }
}
