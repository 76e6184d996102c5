internal import Basics
internal import StreamPaths

/// Makes a route's CloudFront grants: signed URLs, or signed cookies for everything below the route's prefix.
struct CloudFrontRouteGrants: RouteGrants {
    private let grants: CloudFrontGrant
    private let route: GrantRoute

    init(_ grants: CloudFrontGrant, for route: GrantRoute) { (self.grants, self.route) = (grants, route) }

    /// Always true: a signature takes about as long as thirty verifications.
    let isCostly = true

    var opensPrefix: Bool { route.delivery == .cookie }

    /// Throws for a URL that cannot be part of a policy.
    func subject(of url: StreamURL) throws(GrantError) -> String? {
        let signed = try signedURL(url)
        try CloudFrontGrant.demandSignable(signed)
        return signed
    }

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        try grants.grant(url: signedURL(url), period)
    }

    /// The URL itself, or, for cookies, a pattern for all URLs below the prefix.
    private func signedURL(_ url: StreamURL) throws(GrantError) -> String {
        // Unreached: CloudFront's routes must have origins, and a URL on none of them is refused before.
        guard let origin = url.origin else {
            throw GrantError("url", "is '\(printable(url.text))'; expected an absolute URL, which CloudFront signs")
        }
        // Unreached: A configured delivery by cookies; CloudFront's route of the properties has the query.
        guard route.delivery == .query else {
            var pattern = ByteWriter(capacity: 256)
            origin.write(to: &pattern)
            pattern.write(text: route.prefix)
            pattern.write("*")
            return pattern.text
        }
        // In a policy, `?` matches any character, so the grant would also open other files, including those of other
        // routes.
        guard !url.hasQuery else {
            throw GrantError("url", "is '\(printable(url.text))'; expected one without a query, for CloudFront")
        }
        return url.text
    }
}
