package import Basics
internal import Settings

extension CloudFrontGrant: GrantScheme {
    package static let kind = "cloudfront"
    package static let summary = "signed URL or cookies; --url, --key-pair-id, and a PEM private key"
    package static let needsOrigins = true
    package static let settings: [GrantSetting] = [
        .text("key-pair-id", "ID", .key, "ID of the public key there", example: "K2JCJMDEHXQW5F").required,
        .text("url", "URL", .scope, "one URL; * in it for anything").only(in: .option),
        .ip,
        .starts,
        .word("digest", .form, "sha256 (default) or sha1", Digest.allCases.map(\.rawValue)),
    ]

    package init(_ values: GrantValues) throws(GrantError) {
        let keyPairID = try values.required("key-pair-id", "the ID that CloudFront gave to the public key")
        try self.init(key: values.key, keyPairID: keyPairID)
        digest = values["digest"].flatMap(Digest.init) ?? digest
        ip = values["ip"]
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        try grant(url: values.required("url", "--url for cloudfront"), period)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantError) -> any RouteGrants {
        CloudFrontRouteGrants(self, for: route)
    }
}
