package import MediaToken

/// What a path of the streams demands.
package struct GateRoute: Sendable {
    /// What opens it.
    package enum Access: Sendable {
        /// Unprotected media: it plays without a token.
        case open
        /// A token for this.
        case token(Expectation)
    }

    let path: GatePath
    let access: Access

    /// - Parameter path: it and all below it; `nil` results from one that could be read in two ways.
    package init?(path: String, access: Access) {
        guard let path = GatePath(path) else { return nil }
        (self.path, self.access) = (path, access)
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
    func access(to path: GatePath) -> GateRoute.Access? {
        guard let route = routes.first(where: { path.isWithin($0.path) }) else { return nil }
        let nearer = routes.prefix { $0.path.segments.count > route.path.segments.count }
        return nearer.contains { path.mayLieWithin($0.path) } ? nil : route.access
    }
}
