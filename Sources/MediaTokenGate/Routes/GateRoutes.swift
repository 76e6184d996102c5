package import PlaybackGrants
package import MediaToken
package import StreamPaths
internal import TextEncodings

/// What a path of the streams demands. It is a class, because each request refers to one route and a route has many settings.
package final class GateRoute: Sendable {
    /// What a request for the path must come with.
    package enum Access: Sendable {
        /// Nothing: the media is unprotected.
        case open
        /// A media token for this requestor and resource.
        case token(Expectation)
    }

    let path: StreamPath
    let lenientPath: LenientPath
    /// The virtual hosts whose paths these are; empty if the proxy serves only one.
    let hosts: [StreamHost]
    let access: Access
    /// How long the proxy may ask again about one request of a client; `nil` for a single question.
    let attemptWindow: Duration?
    package let grantSettings: RouteGrantSettings?
    /// Makes the route's playback grants; `nil` unless ``withGrant(among:)`` loaded its key.
    let grant: RouteGrant?

    /// - Parameters:
    ///   - path: The route is for this path and all below it. `nil` results from a path that two programs could read in two
    ///     ways, and from one with a query.
    ///   - hosts: The virtual hosts whose paths these are; empty if the proxy serves only one.
    ///   - attemptWindow: How long the proxy may ask again about one request of a client; `nil` for a single question.
    ///   - grant: What the gate exchanges a token for.
    package init?(
        path: String, hosts: [StreamHost] = [], access: Access, attemptWindow: Duration? = nil,
        grant: RouteGrantSettings? = nil
    ) {
        guard !path.utf8.contains(UInt8(ascii: "?")), let path = StreamPath(path) else { return nil }
        (self.path, self.hosts, self.access, self.attemptWindow) = (path, hosts, access, attemptWindow)
        lenientPath = LenientPath(path)
        (grantSettings, self.grant) = (grant, nil)
    }

    private init(_ other: GateRoute, grant: RouteGrant) {
        (path, lenientPath, hosts) = (other.path, other.lenientPath, other.hosts)
        (access, attemptWindow) = (other.access, other.attemptWindow)
        (grantSettings, self.grant) = (other.grantSettings, grant)
    }

    /// Whether some host has paths of both routes.
    func sharesHost(with other: GateRoute) -> Bool {
        hosts.isEmpty || other.hosts.isEmpty || hosts.contains(where: other.hosts.contains)
    }

    /// Whether a lenient server takes one of the two for a path of the other, although their bytes differ. A request for one
    /// route could then bypass the other's rule.
    func isConfused(with other: GateRoute) -> Bool {
        if lenientPath.lies(within: other.lenientPath), !path.isWithin(other.path) { return true }
        return other.lenientPath.lies(within: lenientPath) && !other.path.isWithin(path)
    }

    /// The route with the key of its grant, if it has one.
    ///
    /// - Parameter routes: All routes. What the grant opens at its CDN must belong to no other.
    package func withGrant(among routes: [GateRoute]) throws(GrantProblem) -> GateRoute {
        guard let grantSettings else { return self }
        let loaded = try RouteGrant(grantSettings, hosts: hosts)
        guard loaded.isWithin(path) else {
            throw GrantProblem(
                "scope", "is '\(printable(grantSettings.scope))'; expected a path at or below \(printable(path.text))")
        }
        let others = routes.filter { $0 !== self && $0.sharesHost(with: self) }
        if let other = others.first(where: { loaded.reaches(beyond: lenientPath, into: $0.lenientPath) }) {
            throw GrantProblem(
                "scope",
                "is '\(printable(grantSettings.scope))', and so opens \(printable(other.path.text)) too, which has a route of its own; "
                    + "expected a scope that leaves it out")
        }
        return GateRoute(self, grant: loaded)
    }
}

/// Finds the route of a path. A path that no route names is denied.
struct GateRoutes: Sendable {
    /// The routes of each virtual host.
    private let byHost: [StreamHost: PathTree<GateRoute>]
    /// The routes of the only host; `nil` if routes name their hosts, which then all must.
    private let ofAnyHost: PathTree<GateRoute>?

    /// Whether routes name hosts, so that a path without a host has no route.
    var nameHosts: Bool { ofAnyHost == nil }

    init(_ routes: [GateRoute]) {
        let hosts = Set(routes.flatMap(\.hosts))
        func tree(_ routes: [GateRoute]) -> PathTree<GateRoute> { PathTree(routes.map { ($0.path, $0) }) }
        ofAnyHost = hosts.isEmpty ? tree(routes) : nil
        byHost = Dictionary(
            uniqueKeysWithValues: hosts.map { host in (host, tree(routes.filter { $0.hosts.contains(host) })) })
    }

    /// The nearest route.
    ///
    /// `nil` results if no route names the path, if the origin may take it for a path of another route (`/open/LIVE` is not
    /// open if `/open/live` is not), and if routes name hosts and `host` is none of them.
    func route(to path: StreamPath, on host: @autoclosure () -> StreamHost?) -> GateRoute? {
        if let ofAnyHost { return ofAnyHost.nearest(to: path) }
        return host().flatMap { byHost[$0] }?.nearest(to: path)
    }
}
