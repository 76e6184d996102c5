package import MediaToken
package import PlaybackGrants

/// What a path of the streams demands. A reference: every request takes one, and its settings are many.
package final class GateRoute: Sendable {
    /// What opens it.
    package enum Access: Sendable {
        /// Unprotected media: it plays without a token.
        case open
        /// A token for this.
        case token(Expectation)
    }

    let path: GatePath
    let lenientPath: LenientPath
    let access: Access
    package let grantSettings: RouteGrantSettings?
    /// What its token is exchanged for; `nil` unless ``withGrant(among:)`` made it.
    let grant: RouteGrant?

    /// - Parameters:
    ///   - path: it and all below it; `nil` results from one that could be read in two ways, or has a query, which would not count.
    ///   - grant: what a token for it is exchanged for.
    package init?(path: String, access: Access, grant: RouteGrantSettings? = nil) {
        guard !path.utf8.contains(UInt8(ascii: "?")), let path = GatePath(path) else { return nil }
        (self.path, self.access, grantSettings, self.grant) = (path, access, grant, nil)
        lenientPath = LenientPath(path)
    }

    private init(_ other: GateRoute, grant: RouteGrant) {
        (path, lenientPath, access) = (other.path, other.lenientPath, other.access)
        (grantSettings, self.grant) = (other.grantSettings, grant)
    }

    /// Whether a lenient server takes one of the two for a path of the other, by letters or signs that tell them apart here. What it
    /// serves by the one name, the other's rule would not guard.
    func isConfused(with other: GateRoute) -> Bool {
        if lenientPath.lies(within: other.lenientPath), !path.isWithin(other.path) { return true }
        return other.lenientPath.lies(within: lenientPath) && !other.path.isWithin(path)
    }

    /// The same with the key of its grant, if it has one.
    ///
    /// - Parameter routes: all of them. What the grant opens at its CDN must be none of another's.
    package func withGrant(among routes: [GateRoute]) throws(GrantProblem) -> GateRoute {
        guard let grantSettings else { return self }
        let loaded = try RouteGrant(grantSettings)
        guard loaded.isWithin(path) else {
            throw GrantProblem(
                "scope", "is '\(printable(grantSettings.scope))'; expected a path at or below \(printable(path.text))")
        }
        if let other = routes.first(where: { $0 !== self && loaded.reaches(beyond: self, into: $0) }) {
            throw GrantProblem(
                "scope",
                "is '\(printable(grantSettings.scope))', and so opens \(printable(other.path.text)) too, which has a route of its own; "
                    + "expected a scope that leaves it out")
        }
        return GateRoute(self, grant: loaded)
    }
}

/// Which path demands what. What no route names, nobody gets.
struct GateRoutes: Sendable {
    /// The longest first, so that the first one that fits is the nearest.
    private let routes: [GateRoute]

    init(_ routes: [GateRoute]) {
        self.routes = routes.sorted { $0.path.segments.count > $1.path.segments.count }
    }

    /// `nil` where no route names the path, and where the server behind might take it for one that another route names:
    /// `/open/LIVE` is not open where `/open/live` is not.
    func route(to path: GatePath) -> GateRoute? {
        guard let route = routes.first(where: { path.isWithin($0.path) }) else { return nil }
        let nearer = routes.prefix { $0.path.segments.count > route.path.segments.count }
        guard !nearer.isEmpty else { return route }
        let lenientPath = LenientPath(path)
        return nearer.contains { lenientPath.mayLie(within: $0.lenientPath) } ? nil : route
    }
}
