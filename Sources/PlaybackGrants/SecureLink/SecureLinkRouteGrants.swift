internal import StreamPaths

/// Makes a route's secure links for nginx, each for one URI.
struct SecureLinkRouteGrants: RouteGrants {
    private let links: SecureLink
    var opensPrefix: Bool { false }

    init(links: SecureLink, _ route: GrantRoute) throws(GrantError) {
        try links.demandURI()
        // Unreached: Refuses a configured delivery when the gate starts; a secure link of the properties travels in the
        // query.
        guard route.delivery == .query else {
            throw GrantError("delivery", "is cookie; expected query, as a secure_link is for one URI")
        }
        self.links = links
    }

    func subject(of url: StreamURL) -> String? { url.path.uri }

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        try links.grant(uri: url.path.uri, period)
    }
}
