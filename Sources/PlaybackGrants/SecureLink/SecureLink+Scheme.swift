package import Timestamps

extension SecureLink: GrantScheme {
    package static let kind = "secure-link"
    package static let summary = "nginx's secure_link; --path"
    package static let settings = [
        GrantSetting("path", .text("PATH"), .scope, "nginx's $uri", in: .command, isQuestion: true),
        .ip,
        GrantSetting(
            "expression", .text("TEXT"), .form,
            "as in secure_link_md5, with $secret in it (default \(usualExpression))", example: usualExpression),
    ]

    package init(_ values: GrantValues) throws(GrantError) {
        try self.init(secret: GrantSecret(values.key), expression: values["expression"] ?? Self.usualExpression)
        ip = values["ip"]
    }

    package var fieldName: String? { nil }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        guard !values.has("ip") || namesAddress else {
            throw GrantError("ip", "is given, and the expression has no $remote_addr; expected both or neither")
        }
        return try grant(uri: values.required("path", "--path for secure-link"), period)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantError) -> any RouteGrants {
        try SecureLinkRouteGrants(links: self, route)
    }
}
