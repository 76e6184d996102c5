internal import StreamPaths
package import Timestamps

extension SecureLink: GrantScheme {
    package static let kind = "secure-link"
    package static let summary = "nginx's secure_link; --path"
    package static let settings = [
        GrantSetting("path", .text("PATH"), .scope, "nginx's $uri", in: .command, isQuestion: true),
        GrantSetting("ip", .text("ADDRESS"), .scope, "from this address alone", in: .command),
        GrantSetting(
            "expression", .text("TEXT"), .form,
            "as in secure_link_md5, with $secret in it (default \(usualExpression))"),
    ]

    package init(_ values: GrantValues) throws(GrantProblem) {
        try self.init(secret: GrantSecret(values.key), expression: values["expression"] ?? Self.usualExpression)
        ip = values["ip"]
    }

    package var fieldName: String? { nil }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantProblem) -> Grant {
        guard !values.has("ip") || namesAddress else {
            throw GrantProblem("ip", "is given, and the expression has no $remote_addr; expected both or neither")
        }
        return try grant(uri: values.required("path", "--path for secure-link"), period)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantProblem) -> any RouteGrants {
        // nginx compares one URI. Without it the link would open everything that the expression guards.
        guard namesURI else {
            throw GrantProblem("expression", "has no $uri; expected it, so that a link is for one")
        }
        guard route.delivery == .query else {
            throw GrantProblem("delivery", "is cookie; expected query, as a secure_link is for one URI")
        }
        return SecureLinkRouteGrants(links: self)
    }
}

private struct SecureLinkRouteGrants: RouteGrants {
    let links: SecureLink
    let opensPrefix = false

    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantProblem) -> Grant {
        try links.grant(uri: url.path.uri, period)
    }
}
