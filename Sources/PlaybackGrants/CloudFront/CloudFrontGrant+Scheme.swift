internal import StreamPaths
internal import TextEncodings
package import Timestamps

extension CloudFrontGrant: GrantScheme {
    package static let kind = "cloudfront"
    package static let summary = "signed URL or cookies; --url, --key-pair-id, and a PEM private key"
    package static let needsOrigins = true
    package static let settings = [
        GrantSetting("key-pair-id", .text("ID"), .key, "ID of the public key there", isRequired: true),
        GrantSetting("url", .text("URL"), .scope, "one URL; * in it for anything", in: .command, isQuestion: true),
        GrantSetting("ip", .text("ADDRESS"), .scope, "from this address alone", in: .command),
        GrantSetting("starts", .text("TIME"), .time, "not before (default: at once)", in: .command),
        GrantSetting("digest", .word(Digest.allCases.map(\.rawValue)), .form, "sha256 or sha1 (default sha256)"),
    ]

    package init(_ values: GrantValues) throws(GrantProblem) {
        let keyPairID = try values.required("key-pair-id", "the ID that CloudFront gave to the public key")
        try self.init(key: values.key, keyPairID: keyPairID)
        digest = values["digest"].flatMap(Digest.init) ?? digest
        ip = values["ip"]
    }

    package var fieldName: String? { nil }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantProblem) -> Grant {
        try grant(url: values.required("url", "--url for cloudfront"), period)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantProblem) -> any RouteGrants {
        CloudFrontRouteGrants(grants: self, route: route)
    }
}

private struct CloudFrontRouteGrants: RouteGrants {
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
