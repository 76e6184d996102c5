package import Timestamps

extension CloudFrontGrant: GrantScheme {
    package static let kind = "cloudfront"
    package static let summary = "signed URL or cookies; --url, --key-pair-id, and a PEM private key"
    package static let needsOrigins = true
    package static let settings = [
        GrantSetting(
            "key-pair-id", .text("ID"), .key, "ID of the public key there", isRequired: true, example: "K2JCJMDEHXQW5F"),
        GrantSetting("url", .text("URL"), .scope, "one URL; * in it for anything", in: .command, isQuestion: true),
        .ip,
        .starts,
        GrantSetting("digest", .word(Digest.allCases.map(\.rawValue)), .form, "sha256 or sha1 (default sha256)"),
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
