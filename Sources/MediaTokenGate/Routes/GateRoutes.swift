internal import Basics
package import PlaybackGrants
package import MediaToken
package import StreamPaths

/// The rule for a path of the streams. It is a class, because each request refers to a route, which has many settings.
package final class GateRoute: Sendable {
    /// What a request for the path must present.
    package enum Access: Sendable {
        /// Nothing: the media is unprotected.
        case open
        /// A media token for this requestor and resource.
        case token(Expectation)
    }

    /// Where the configuration has the route: `routes[0]`.
    package let place: String
    let path: StreamPath
    let lenientPath: LenientPath
    /// The virtual hosts that the route is for; empty if the proxy serves only one.
    let hosts: [StreamHost]
    let access: Access
    /// The time within which the proxy may ask again about one client request; `nil` if it may ask only once.
    let attemptWindow: Duration?
    /// The methods without media that the gate allows.
    let allowedMethods: Set<MethodWithoutMedia>
    /// Whether the gate only reports what it would refuse for the route.
    package let reportsOnly: Bool
    package let grantSettings: RouteGrantSettings?
    /// Makes the route's playback grants; `nil` unless ``withGrant(among:)`` loaded their key.
    let grant: RouteGrant?

    /// Creates a route; `nil` if the path has a query, or if two programs could read the path in two ways.
    ///
    /// - Parameters:
    ///   - place: Where the configuration has the route.
    ///   - path: The path that the route is for, with all paths below it.
    ///   - hosts: The virtual hosts that the route is for; empty if the proxy serves only one.
    ///   - attemptWindow: The time within which the proxy may ask again about one client request; `nil` if it may ask
    ///     only once.
    ///   - allowedMethods: The methods without media that the gate allows.
    ///   - reportsOnly: Whether the gate only reports what it would refuse for the route.
    ///   - grant: The settings of the grant that the gate exchanges a token for; `nil` if it makes none.
    package init?(
        at place: String = "routes[0]", path: String, hosts: [StreamHost] = [], access: Access,
        attemptWindow: Duration? = nil, allowing allowedMethods: Set<MethodWithoutMedia> = [],
        reportsOnly: Bool = false, grant: RouteGrantSettings? = nil
    ) {
        guard let path = try? Self.path(path) else { return nil }
        (self.path, self.hosts, self.access, self.attemptWindow) = (path, hosts, access, attemptWindow)
        (lenientPath, self.place, self.allowedMethods) = (LenientPath(path), place, allowedMethods)
        (self.reportsOnly, grantSettings, self.grant) = (reportsOnly, grant, nil)
    }

    // Unreached: Asked by the command that rotates keys, and not by the properties.
    /// Whether the configuration has the route for this path, in whatever spelling.
    package func isFor(_ path: String) -> Bool { (try? Self.path(path))?.text == self.path.text }

    /// The path that `text` is.
    ///
    /// - Throws: ``StreamPathError`` if it has a query, or if two programs could read it in two ways.
    static func path(_ text: String) throws(StreamPathError) -> StreamPath {
        guard !text.utf8.contains(UInt8(ascii: "?")) else { throw .query }
        return try StreamPath(reading: text)
    }

    private init(_ other: GateRoute, grant: RouteGrant?, reportsOnly: Bool? = nil) {
        (path, lenientPath, hosts, place) = (other.path, other.lenientPath, other.hosts, other.place)
        (access, attemptWindow, allowedMethods) = (other.access, other.attemptWindow, other.allowedMethods)
        (self.reportsOnly, grantSettings) = (reportsOnly ?? other.reportsOnly, other.grantSettings)
        self.grant = grant
    }

    /// Whether both routes apply on some host.
    func sharesHost(with other: GateRoute) -> Bool {
        hosts.isEmpty || other.hosts.isEmpty || hosts.contains(where: other.hosts.contains)
    }

    /// Whether a lenient server takes a path of one route for a path of the other, although their bytes differ. A
    /// request for one route could then bypass the other's rule.
    func isConfused(with other: GateRoute) -> Bool {
        if lenientPath.lies(within: other.lenientPath), !path.isWithin(other.path) { return true }
        return other.lenientPath.lies(within: lenientPath) && !other.path.isWithin(path)
    }

    // Unreached: Compares routes at a reload; the properties reload nothing.
    /// The route of the same path and hosts; `nil` if there is none.
    private func counterpart(among routes: [GateRoute]) -> GateRoute? {
        routes.first { $0.path.isSame(as: path) && $0.hosts == hosts }
    }

    // Unreached: Withdraws what a failed reload no longer names; the properties reload nothing.
    /// The route without the grant keys that are gone, of which a file is no longer there, no longer named, or has
    /// another content, and in earnest if the settings no longer say that it only reports.
    ///
    /// - Parameter routes: The routes by the settings now.
    /// - Returns: The route, and what it no longer has; `nil` if it has all.
    package func withdrawing(by routes: [GateRoute]) -> (route: GateRoute, gone: [String])? {
        let named = counterpart(among: routes)
        var (left, gone) = (grant, [String]())
        if let grant {
            let settings = grant.withdrawing(by: named?.grantSettings?.maker)
            if settings != grant.settings {
                left = settings.flatMap { grant.with($0, hosts: hosts) }
                gone.append("grant keys")
            }
        }
        let reportsOnly = reportsOnly && named?.reportsOnly == true
        if reportsOnly != self.reportsOnly { gone.append("report-only") }
        return gone.isEmpty ? nil : (GateRoute(self, grant: left, reportsOnly: reportsOnly), gone)
    }

    // Unreached: Compares the keys of a reload; the properties load them once.
    /// The IDs of the grant keys that checked the grants of these paths and hosts under earlier routes, and whose
    /// grants this route refuses.
    package func keysGone(since earlier: [GateRoute]) -> [String] {
        guard let before = counterpart(among: earlier)?.grant?.verifier, let now = grant?.verifier else { return [] }
        return before.tokens.keyIDs(rejectedBy: now.tokens)
    }

    /// The route with its grant's key loaded, or the route itself if it has no grant.
    ///
    /// - Parameter routes: All routes. The grant must not open a path of another route at its CDN.
    package func withGrant(among routes: [GateRoute]) throws(GrantError) -> GateRoute {
        guard let grantSettings else { return self }
        let loaded = try RouteGrant(grantSettings, hosts: hosts)
        // Unreached: Refuses a configured scope when the gate starts; the properties' scopes lie within their routes.
        guard loaded.isWithin(path) else {
            throw GrantError(
                "scope", "is '\(printable(grantSettings.scope))'; expected a path at or below \(printable(path.text))")
        }
        let others = routes.filter { $0 !== self && $0.sharesHost(with: self) }
        // Unreached: Refuses a configured scope when the gate starts; no scope of the properties reaches into another
        // route.
        if let other = others.first(where: { loaded.reaches(beyond: lenientPath, into: $0.lenientPath) }) {
            throw GrantError(
                "scope",
                "is '\(printable(grantSettings.scope))', and so opens \(printable(other.path.text)) too, which has a route of its own; "
                    + "expected a scope that leaves it out")
        }
        return GateRoute(self, grant: loaded)
    }
}

/// Finds the route of a path. If no route names the path, the gate denies the request.
struct GateRoutes: Sendable {
    /// The routes of each virtual host; empty if routes name no hosts.
    private let byHost: [StreamHost: PathTree<GateRoute>]
    /// The routes for any host; `nil` if routes name their hosts, in which case all of them must.
    private let ofAnyHost: PathTree<GateRoute>?

    /// Whether routes name hosts. A path without a host then has no route.
    var nameHosts: Bool { ofAnyHost == nil }

    init(_ routes: [GateRoute]) {
        let hosts = Set(routes.flatMap(\.hosts))
        func tree(_ routes: [GateRoute]) -> PathTree<GateRoute> { PathTree(routes.map { ($0.path, $0) }) }
        ofAnyHost = hosts.isEmpty ? tree(routes) : nil
        byHost = Dictionary(
            uniqueKeysWithValues: hosts.map { host in (host, tree(routes.filter { $0.hosts.contains(host) })) })
    }

    /// The most specific route for `path`.
    ///
    /// - Throws: ``RouteError``. The origin may take `/open/LIVE` for a path of another route if `/open/live` has its
    ///   own.
    func route(to path: StreamPath, on host: @autoclosure () -> StreamHost?) throws(RouteError) -> GateRoute {
        let routes = try routes(of: host())
        if let route = routes.nearest(to: path) { return route }
        throw routes.names(path) ? .severalReadings : .pathUnknown
    }

    private func routes(of host: @autoclosure () -> StreamHost?) throws(RouteError) -> PathTree<GateRoute> {
        if let ofAnyHost { return ofAnyHost }
        guard let host = host() else { throw .hostMissing }
        guard let routes = byHost[host] else { throw .hostUnknown(host) }
        return routes
    }
}

/// Why a path has no route.
enum RouteError: Error, CustomStringConvertible {
    case pathUnknown
    case severalReadings
    case hostMissing
    case hostUnknown(StreamHost)

    var description: String {
        switch self {
        case .pathUnknown: "no route names the stream's path"
        case .severalReadings: "a server might take the stream's path for one of another route"
        case .hostMissing: "routes name their hosts, and the stream's host is missing"
        case .hostUnknown(let host): "no route names the stream's host, '\(host.name)'"
        }
    }
}
