package import MediaToken
package import PlaybackGrants
package import StreamPaths
internal import TextEncodings
package import Timestamps

/// The configured settings of the grant that a route's media token is exchanged for.
package struct RouteGrantSettings: Sendable, Equatable {
    package var maker: GrantSettings
    /// Seconds from the verdict on.
    package var validity: Int64 = 14_400
    /// The origins whose URLs may be exchanged; empty for any, which some kinds do not allow.
    package var origins: [StreamOrigin] = []
    /// The path prefix that the grant opens, if the kind knows paths.
    package var scope: String
    package var delivery: GrantDelivery
    package var cookieDomain: String?
    /// How long the client that got a grant may fetch it again with the same `Idempotency-Key`; `nil` if it may not.
    package var retryWindow: Duration?

    package init(_ maker: GrantSettings, scope: String) {
        (self.maker, self.scope) = (maker, scope)
        delivery = maker.kind.scheme.usualDelivery
    }
}

/// The grant of a route, with its key.
package final class RouteGrant: Sendable {
    private let grants: any RouteGrants
    package let settings: RouteGrantSettings
    /// The scope with a slash at its end, with which every path below it begins.
    package let prefix: String
    private let scopePath: StreamPath
    private let lenientScope: LenientPath

    /// Reads the key.
    ///
    /// - Parameter hosts: the virtual hosts of the route; empty if it names none.
    /// - Throws: ``GrantProblem`` also if the scope could be read in two ways.
    package init(_ settings: RouteGrantSettings, hosts: [StreamHost]) throws(GrantProblem) {
        // With an escape it would have two spellings, and CDNs do not agree which one is compared. The others are wildcards.
        guard let path = StreamPath(settings.scope), !settings.scope.utf8.contains(where: "%*?;".utf8.contains) else {
            throw GrantProblem(
                "scope",
                "is '\(printable(settings.scope))'; expected a path from / on, without escapes, *, ?, ;, . or ..")
        }
        prefix = settings.scope.utf8.last == UInt8(ascii: "/") ? settings.scope : settings.scope + "/"
        let route = GrantRoute(prefix: prefix, hosts: hosts, delivery: settings.delivery)
        grants = try settings.maker.load().grants(for: route, settings.maker.values)
        if settings.maker.kind.scheme.needsOrigins, settings.origins.isEmpty { throw Self.originsMissing }
        (self.settings, scopePath, lenientScope) = (settings, path, LenientPath(path))
        let origin = settings.origins.first?.text ?? "https://\(hosts.first?.name ?? "host")"
        guard let sample = StreamURL(origin + prefix + "sample") else {
            throw GrantProblem("scope", "is '\(printable(settings.scope))', and no URL lies below it")
        }
        _ = try grant(for: sample, identifier: nil, at: .now)
    }

    package static let originsMissing = GrantProblem(
        "origins",
        "is missing; expected the origins of the distribution, such as https://cdn.example, as CloudFront signs whole URLs"
    )

    /// Whether the scope is at or below `path`.
    package func isWithin(_ path: StreamPath) -> Bool { scopePath.isWithin(path) }

    /// Whether a grant opens, at its CDN, paths of another route, or is made for such paths only. A path of a lenient origin
    /// counts too.
    ///
    /// - Parameters:
    ///   - own: the path of the grant's own route.
    ///   - other: the path of the other route.
    package func reaches(beyond own: LenientPath, into other: LenientPath) -> Bool {
        if lenientScope.lies(within: other), other.lies(within: own) { return true }
        // The gate itself refuses such a grant below a nearer route, so it may be wider.
        if verifier != nil { return false }
        return grants.opensPrefix && other.lies(within: lenientScope)
    }

    /// Checks the route's grants in place of media tokens; `nil` if only a CDN takes them.
    package var verifier: GrantVerifier? { (grants as? any VerifiableGrants)?.verifier }

    /// The order for a grant for `url`. Anything that rules a grant out is found here, before the token is consumed.
    package func order(for url: StreamURL, at now: Timestamp) throws(GrantProblem) -> GrantOrder {
        guard settings.origins.isEmpty || url.origin.map(settings.origins.contains) ?? false else {
            throw GrantProblem(
                "url",
                "is '\(printable(url.text))'; expected an absolute URL on \(printableList(settings.origins.map(\.text)))"
            )
        }
        let depth = url.path.names.count - scopePath.names.count
        guard url.path.isWithin(scopePath), depth > 0 || !grants.opensPrefix else {
            throw GrantProblem(
                "url", "is '\(printable(url.text))'; expected one below \(printable(settings.scope))")
        }
        try grants.demandGrantable(url, GrantPeriod(from: now, seconds: settings.validity))
        return GrantOrder(grant: self, url: url)
    }

    fileprivate func grant(for url: StreamURL, identifier: [UInt8]?, at now: Timestamp) throws(GrantProblem) -> Grant {
        let period = try GrantPeriod(from: now, seconds: settings.validity)
        return try grants.grant(for: url, period, issuedAt: now.milliseconds / 1000, identifier: identifier)
    }
}

/// An order for a grant, which is made once a token has been accepted.
package struct GrantOrder: Sendable {
    fileprivate let grant: RouteGrant
    fileprivate let url: StreamURL

    /// Makes the grant. A client that retries gets the same one, since it counts from the token's first use.
    package func fulfil(for token: VerifiedToken, at now: Timestamp) throws(GrantProblem) -> Play {
        let made = try grant.grant(for: url, identifier: token.replayKey.identifier, at: token.firstUse)
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

/// What the player is given to play a stream.
package struct Play: Sendable {
    package let url: String
    /// The values of `Set-Cookie` headers.
    package let cookies: [String]
    /// Seconds since 1970.
    package let expires: Int64
}

extension ReplayKey {
    /// Half of the key: enough to find the token's verdict by, and useless to anybody else.
    fileprivate var identifier: [UInt8] {
        withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian)) { Array($0) }
    }
}
