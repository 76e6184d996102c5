internal import Basics
package import HTTP
internal import MediaToken
package import PlaybackGrants
package import StreamPaths

/// The configured settings of the playback grant that a route's media tokens are exchanged for.
package struct RouteGrantSettings: Sendable, Equatable {
    package var maker: GrantConfiguration
    /// The lifetime of a grant, from the token's first acceptance.
    package var validity = defaultValidity
    /// The origins whose URLs may be exchanged. If empty, any origin may; some kinds of grant do not allow that.
    package var origins: [StreamOrigin] = []
    /// The path prefix that the grant opens, if its kind supports paths.
    package var scope: String
    package var delivery: GrantDelivery
    package var cookieDomain: String?
    /// Whether a browser keeps the cookies apart for each site that has the player in a frame (CHIPS).
    package var isPartitioned = false
    /// The time within which a client may fetch its grant again with the same `Idempotency-Key`; `nil` if it may not.
    package var retryWindow: Duration?

    /// The lifetime of a grant if the configuration has none.
    static let defaultValidity = Duration.seconds(14_400)

    package init(_ maker: GrantConfiguration, scope: String) {
        (self.maker, self.scope) = (maker, scope)
        delivery = maker.kind.defaultDelivery
    }
}

/// A route's playback grants, with the loaded grant key.
package final class RouteGrant: Sendable {
    private let grants: RouteGrantMaker
    /// Checks the route's grants in place of media tokens; `nil` if only a CDN can check them.
    package let verifier: GrantVerifier?
    package let settings: RouteGrantSettings
    /// The path prefix with a slash at its end. Every path below it begins with this text.
    package let prefix: String
    /// The grants that tokens of one second share.
    fileprivate let recent = RecentGrants()
    private let scopePath: StreamPath
    private let lenientScope: LenientPath
    /// A URL below the path prefix.
    private let sample: StreamURL
    /// Why no grant can be made for all of the route, without the URL of a stream; `nil` if one can.
    let needOfURL: String?

    /// What was read from the files of the keys and other secrets.
    private let secrets: [String: [UInt8]]

    /// Reads the grant key.
    ///
    /// - Parameters:
    ///   - hosts: The virtual hosts of the route; empty if it names none.
    ///   - secrets: What was read from the files before; `nil` to read them.
    /// - Throws: ``GrantError``, also if the path prefix could be read in two ways.
    package init(
        _ settings: RouteGrantSettings, hosts: [StreamHost], secrets known: [String: [UInt8]]? = nil
    ) throws(GrantError) {
        // CDNs differ in which spelling of an escape they compare. `*` and `?` are wildcards; `;` ends a cookie's path.
        // Unreached: Refuses a configured scope when the gate starts; the properties' scopes are sound.
        if let character = settings.scope.first(where: { "%*?;".contains($0) }) {
            throw GrantError(
                "scope",
                "is '\(printable(settings.scope))', with \(character); expected a path without escapes, *, ? and ;")
        }
        let path: StreamPath
        // Unreached: Refuses a configured scope when the gate starts; the properties' scopes are sound.
        do throws(StreamPathError) { path = try StreamPath(reading: settings.scope) } catch {
            throw GrantError("scope", "is '\(printable(settings.scope))'; \(error)")
        }
        // Unreached: A configured scope with a slash at its end; the properties' have none.
        prefix = settings.scope.utf8.last == UInt8(ascii: "/") ? settings.scope : settings.scope + "/"
        let route = GrantTarget(prefix: prefix, hosts: hosts, delivery: settings.delivery)
        var secrets = known ?? [:]
        let scheme = try settings.maker.load { (path, setting) throws(GrantError) -> [UInt8] in
            // Unreached: Keeps the keys that are left when others are withdrawn; the properties withdraw none.
            if let known { return known[path] ?? [] }
            secrets[path] = try GrantConfiguration.line(ofFile: path, setting)
            // Unreached: The line before has set it; the default only satisfies the type.
            return secrets[path] ?? []
        }
        self.secrets = secrets
        grants = try scheme.maker(for: route, settings.maker.values)
        verifier = grants.verifier as? GrantVerifier
        // Unreached: Refuses a configuration without origins when the gate starts; the properties' routes have two.
        if settings.maker.kind.needsOrigins, settings.origins.isEmpty { throw Self.originsMissing }
        let validity = settings.validity.components.seconds
        // Unreached: Refuses a configured bound when the gate starts; the properties' are longer than the validity.
        if let end = verifier?.renewsUntil, end <= validity {
            throw GrantError(
                "renew-until", "is \(end), and validity is \(validity); expected more, or no grant is renewed")
        }
        (self.settings, scopePath, lenientScope) = (settings, path, LenientPath(path))
        needOfURL =
            !grants.opensPrefix
            ? "is for one URL" : max(hosts.count, settings.origins.count) > 1 ? "is for one of several hosts" : nil
        let origin = settings.origins.first?.text ?? "https://\(hosts.first?.name ?? "host")"
        // Unreached: Refuses a configured scope when the gate starts; the properties' scopes are sound.
        guard let sample = StreamURL(origin + prefix + "sample") else {
            throw GrantError("scope", "is '\(printable(settings.scope))', and no URL lies below it")
        }
        self.sample = sample
        let grant = try grant(for: sample, identifier: nil, firstUse: .now)
        _ = try cookies(of: grant, at: .now)
        if settings.delivery == .query { try grant.demandQuery() }
    }

    // Unreached: Withdraws keys whose files are gone; the properties withdraw none.
    /// The settings without the keys that are gone; `nil` if no grant can be made or checked any more.
    func withdrawing(by named: GrantConfiguration?) -> RouteGrantSettings? {
        settings.maker.withdrawing(by: named, secrets).map { maker in
            var left = settings
            left.maker = maker
            return left
        }
    }

    // Unreached: Withdraws keys whose files are gone; the properties withdraw none.
    /// The grants with fewer keys of those that were read.
    func with(_ left: RouteGrantSettings, hosts: [StreamHost]) -> RouteGrant? {
        try? RouteGrant(left, hosts: hosts, secrets: secrets)
    }

    package static let originsMissing = GrantError(
        "origins",
        "is missing; expected the origins of the distribution, such as https://cdn.example, as CloudFront signs whole URLs"
    )

    /// Whether the grant's path prefix is at or below `path`.
    package func isWithin(_ path: StreamPath) -> Bool { scopePath.isWithin(path) }

    /// Whether the CDN would accept this route's grant for paths of another route, or the grant is only for such paths.
    /// Paths that a lenient origin treats as equal count too.
    ///
    /// - Parameters:
    ///   - own: The path of the grant's own route.
    ///   - other: The path of the other route.
    package func reaches(beyond own: LenientPath, into other: LenientPath) -> Bool {
        // Unreached: Refuses a configured scope when the gate starts; no route of the properties lies in another.
        if lenientScope.lies(within: other), other.lies(within: own) { return true }
        // The gate itself rejects such a grant below a more specific route, so the grant may be broader.
        if verifier != nil { return false }
        return grants.opensPrefix && other.lies(within: lenientScope)
    }

    /// The order for a grant. If anything rules the grant out, this throws, before the token is consumed.
    func order(for wanted: WantedStream, at now: Timestamp) throws(GrantError) -> GrantOrder {
        switch wanted {
        case .one(let url): return try order(for: url, isPrefix: false, at: now)
        case .allBelow(let url): return try order(for: url, isPrefix: true, at: now)
        case .allOf:
            // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
            if let needOfURL { throw GrantError("url", "is missing, and the grant \(needOfURL); expected it") }
            return try order(for: sample, isPrefix: false, at: now)
        }
    }

    private func order(
        for url: StreamURL, isPrefix: Bool, at now: Timestamp
    ) throws(GrantError) -> GrantOrder {
        // Unreached: A wrapper that the compiler makes for a method that is handed on, and does not count.
        guard settings.origins.isEmpty || url.origin.map(settings.origins.contains) ?? false else {
            throw GrantError(
                "url",
                "is '\(printable(url.text))'; expected an absolute URL on \(printableList(settings.origins.map(\.text)))"
            )
        }
        let depth = url.path.names.count - scopePath.names.count
        guard url.path.isWithin(scopePath), depth > 0 || isPrefix || !grants.opensPrefix else {
            throw GrantError(
                "url", "is '\(printable(url.text))'; expected one below \(printable(settings.scope))")
        }
        guard !isPrefix || grants.opensPrefix else {
            throw GrantError("url", "names all below a path, and the grant is for one URL; expected that")
        }
        _ = try GrantPeriod(from: now, lasting: settings.validity)
        return GrantOrder(route: self, url: url, subject: try grants.subject(of: url))
    }

    // Unreached: Asked by the service, which decides by it on which thread a grant is signed; the properties have no
    // threads.
    /// Whether making a grant may take so long that an event loop must not wait for it.
    fileprivate var isCostly: Bool { grants.isCostly }

    fileprivate func grant(
        for url: StreamURL, identifier: [UInt8]?, firstUse: Timestamp
    ) throws(GrantError) -> Grant {
        let period = try GrantPeriod(from: firstUse, lasting: settings.validity)
        return try grants.grant(for: url, period, issuedAt: firstUse.wholeSeconds, identifier: identifier)
    }

    /// The `Set-Cookie` field of the grant that replaces one with these claims, which opens a request at `now`; `nil`
    /// unless it is due. A grant for another path prefix than the route's own is not renewed, since its cookie may be
    /// for another path.
    ///
    /// - Throws: ``GrantError`` if the new grant cannot be made.
    func renewal(of claims: CATClaims, at now: Timestamp) throws(GrantError) -> HTTPFields? {
        guard claims.scope.pathPrefix?.hasSameBytes(as: prefix) == true else { return nil }
        guard let grant = try verifier?.renewed(claims, at: now) else { return nil }
        return try cookies(of: grant, at: now)
    }

    /// The `Set-Cookie` fields that deliver the grant; empty if its URL does.
    ///
    /// - Throws: ``GrantError`` if cookies cannot deliver it.
    fileprivate func cookies(of grant: Grant, at now: Timestamp) throws(GrantError) -> HTTPFields {
        var fields = HTTPFields()
        guard settings.delivery == .cookie else { return fields }
        for cookie in try grant.cookies(path: settings.scope, domain: settings.cookieDomain, at: now) {
            // Unreached: Configured cookies with Partitioned; the properties' have none.
            fields.add("Set-Cookie", settings.isPartitioned ? cookie + "; Partitioned" : cookie)
        }
        return fields
    }
}

/// An order for a playback grant, to be fulfilled if the token is accepted. It is a class, because it passes through
/// many hands, and refers to much.
package final class GrantOrder: Sendable {
    /// What tokens must have in common to get the same grant.
    struct Key: Hashable, Sendable {
        private let route: ObjectIdentifier
        private let subject: String
        private let second: Int64

        fileprivate init(_ route: RouteGrant, _ subject: String, second: Int64) {
            (self.route, self.subject, self.second) = (ObjectIdentifier(route), subject, second)
        }

        static func == (left: Self, right: Self) -> Bool {
            left.second == right.second && left.route == right.route && left.subject.hasSameBytes(as: right.subject)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(second)
            subject.hashBytes(into: &hasher)
        }
    }

    private let route: RouteGrant
    private let url: StreamURL
    private let subject: String?

    // Unreached: The properties' gates decide in earnest.
    /// The URL that the request names, without a grant.
    var streamURL: String { url.text }

    fileprivate init(route: RouteGrant, url: StreamURL, subject: String?) {
        (self.route, self.url, self.subject) = (route, url, subject)
    }

    // Unreached: Asked by the service, which decides by it on which thread a grant is signed; the properties have no
    // threads.
    /// Whether making the grant may take so long that an event loop must not wait for it.
    var isCostly: Bool { route.isCostly }

    /// What the grant of a token that was first used then shares with others; `nil` if it is the token's own.
    func key(firstUse: Timestamp) -> Key? {
        // A grant's period is a function of the second in which it begins.
        subject.map { Key(route, $0, second: firstUse.wholeSeconds) }
    }

    /// The grant that tokens of that second get, if it was made lately.
    func recent(firstUse: Timestamp) -> RecentGrants.Made? {
        key(firstUse: firstUse).flatMap { route.recent.made(for: $0) }
    }

    typealias Outcome = Result<RecentGrants.Made, GrantError>

    /// The grant that was made lately, or else a new one. A client that retries gets the same one, because its lifetime
    /// starts at the token's first use.
    ///
    /// - Parameter identifier: The token's identity, for a grant of its own.
    func outcome(identifier: [UInt8], firstUse: Timestamp, at now: Timestamp) -> Outcome {
        Result { () throws(GrantError) in try make(identifier: identifier, firstUse: firstUse, at: now) }
    }

    private func make(
        identifier: [UInt8], firstUse: Timestamp, at now: Timestamp
    ) throws(GrantError) -> RecentGrants.Made {
        // Another event loop may have had it signed meanwhile.
        if let recent = recent(firstUse: firstUse) { return recent }
        let grant = try route.grant(for: url, identifier: identifier, firstUse: firstUse)
        let made = RecentGrants.Made(
            grant: grant, second: now.wholeSeconds, cookies: try route.cookies(of: grant, at: now))
        if let key = key(firstUse: firstUse) { route.recent.keep(made, for: key) }
        return made
    }

    /// Delivers a grant.
    func play(_ made: RecentGrants.Made, at now: Timestamp) -> Play {
        let fields = made.grant.fields
        // The cookies of this grant have been made once.
        // Unreached: A grant that is delivered in a later second than it was made in; the properties deliver each at
        // once.
        let cookies = made.second == now.wholeSeconds ? nil : try? route.cookies(of: made.grant, at: now)
        return Play(
            token: fields.count == 1 ? fields[0].value : nil,
            url: route.settings.delivery == .query ? made.grant.appended(to: url) : url.text,
            cookies: cookies ?? made.cookies,
            expires: made.grant.expires.wholeSeconds)
    }
}

/// The URL and cookies with which the player plays a stream.
package struct Play: Sendable {
    /// The value of a grant that has only one.
    package let token: String?
    package let url: String
    /// The `Set-Cookie` fields.
    package let cookies: HTTPFields
    /// The expiry of the grant, in seconds since 1970.
    package let expires: Int64
}

extension ReplayKey {
    /// How many bytes ``identifier`` has.
    static let identifierLength = 16

    /// Half of the replay key: enough to find the token's verdict, but of no use to anyone else.
    var identifier: [UInt8] {
        withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian)) { Array($0) }
    }
}
