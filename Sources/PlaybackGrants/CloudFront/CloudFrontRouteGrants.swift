internal import StreamPaths
internal import TextEncodings

/// Signs CloudFront's URLs of a route, or by cookies everything below its prefix.
struct CloudFrontRouteGrants: RouteGrants {
    let grants: CloudFrontGrant
    let route: GrantRoute

    var opensPrefix: Bool { route.delivery == .cookie }

    /// The URL is a part of the policy, so one that no policy can name is found here.
    func demandGrantable(_ url: StreamURL, _ period: GrantPeriod) throws(GrantProblem) {
        _ = try grants.policy(for: signedURL(url), period)
    }

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantProblem) -> Grant {
        try grants.grant(url: signedURL(url), period)
    }

    /// The URL itself, or for cookies a pattern for all URLs below the prefix.
    private func signedURL(_ url: StreamURL) throws(GrantProblem) -> String {
        guard let origin = url.origin else {
            throw GrantProblem("url", "is '\(printable(url.text))'; expected an absolute URL, which CloudFront signs")
        }
        guard route.delivery == .query else { return origin.text + route.prefix + "*" }
        // In a policy `?` stands for any character, so the grant would open other files too, also of other routes.
        guard !url.text.utf8.contains(UInt8(ascii: "?")) else {
            throw GrantProblem("url", "is '\(printable(url.text))'; expected one without a query, for CloudFront")
        }
        return url.text
    }
}
