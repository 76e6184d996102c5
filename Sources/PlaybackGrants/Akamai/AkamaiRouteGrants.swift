internal import StreamPaths

/// Makes Akamai tokens for everything below a route's prefix.
struct AkamaiRouteGrants: RouteGrants {
    let tokens: AkamaiToken
    let prefix: String
    var opensPrefix: Bool { true }

    func subject(of url: StreamURL) -> String? { prefix }

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        try tokens.grant(.acl([prefix + "*"]), period)
    }
}
