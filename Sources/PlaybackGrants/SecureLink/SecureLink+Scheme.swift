package import Basics
internal import Settings

extension SecureLink: GrantScheme {
    package static let kind = "secure-link"
    package static let summary = "nginx's secure_link; --path"
    package static let settings: [GrantSetting] = [
        .text("path", "PATH", .scope, "path as in the URL, percent-encoded").only(in: .option),
        .ip,
        .text(
            "expression", "TEXT", .form,
            "as in secure_link_md5, with $secret in it (default \(usualExpression))", example: usualExpression),
    ]

    package init(_ values: GrantValues) throws(GrantError) {
        try self.init(secret: GrantSecret(values.key), expression: values["expression"] ?? Self.usualExpression)
        ip = values["ip"]
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        try demandURI()
        guard !values.has("ip") || namesAddress else {
            throw GrantError("ip", "is given, and the expression has no $remote_addr; expected both or neither")
        }
        return try grant(uri: Self.uri(values.required("path", "--path for secure-link")), period)
    }

    /// Refuses an expression without `$uri`: its link would open everything that the expression guards.
    func demandURI() throws(GrantError) {
        // Unreached: Refuses a configured expression when the gate starts; the properties' has $uri.
        guard namesURI else {
            throw GrantError("expression", "has no $uri; expected it, so that a link is for one")
        }
    }

    /// nginx's `$uri` for a path as it stands in a URL, as the gate and checks read it.
    private static func uri(_ path: String) throws(GrantError) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw GrantError("path", "is '\(printable(path))'; expected a path from / on")
        }
        if let mark = path.first(where: { $0 == "?" || $0 == "#" }) {
            throw GrantError(
                "path",
                "is '\(printable(path))', with \(mark); expected a path alone, in which a file's own \(mark) is "
                    + (mark == "?" ? "%3F" : "%23"))
        }
        let url = RequestedURL(path)
        guard let uri = url.decodedPath else { throw GrantError("path", "cannot be signed: " + url.problem) }
        return uri
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantError) -> any RouteGrants {
        try SecureLinkRouteGrants(links: self, route)
    }
}
