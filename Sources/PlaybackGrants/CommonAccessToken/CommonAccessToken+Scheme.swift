internal import TextEncodings
package import Timestamps

extension CommonAccessToken: GrantScheme {
    package static let kind = "cat"
    package static let summary = "Common Access Token (CTA-5007); --path-prefix, and a key of 32 bytes or more"
    package static let defaultDelivery = GrantDelivery.cookie
    package static let takesSeveralKeys = true
    /// The ID of a key that has none in the settings.
    private static let usualKeyID = "media-token"
    package static let settings = [
        GrantSetting(
            "key-id", .list("ID"), .key,
            "names the key in each token, of several keys each (default \(usualKeyID) for one)",
            example: "2027-01 2026-07"),
        GrantSetting("path", .text("PATH"), .scope, "exactly this path", in: .command),
        GrantSetting("path-prefix", .text("PATH"), .scope, "paths that begin with this", in: .command),
        GrantSetting("scheme", .text("NAME"), .scope, "exactly this scheme", in: .command),
        GrantSetting("host", .text("NAME"), .scope, "exactly this host", in: .command),
        GrantSetting("method", .list("NAME"), .scope, "with this method (repeatable)", in: .command),
        GrantSetting("methods", .list("NAME"), .scope, "with these methods", in: .file, example: "GET HEAD") {
            methodProblem($0)
        },
        .starts,
        GrantSetting("issuer", .text("ID"), .form, "who makes it", example: "gate.example"),
        GrantSetting("digest", .word(["sha256"]), .form, "sha256", in: .file),
        GrantSetting("cti", .text("HEX"), .form, "the token's own ID", in: .command),
        GrantSetting(
            "renew", .text("KIND:S[:S]"), .form,
            "renewal as cookie, header, redirect or automatic, for so many seconds; then those before the end in which it is renewed",
            example: "cookie:3600:600"
        ) { text in
            do throws(GrantError) { _ = try CATRenewal(text: text) } catch { return error.reason }
            return nil
        },
        GrantSetting(
            "renew-until", .seconds(GrantPeriod.longest), .form,
            "seconds from a grant's issue until which the gate renews it as a cookie; required if renew says so",
            in: .file, example: "28800"),
    ]

    private static func methodProblem(_ method: String) -> String? {
        let isMethod =
            !method.isEmpty && method.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        return isMethod ? nil : "is '\(printable(method))'; expected GET, HEAD, …"
    }

    package init(_ values: GrantValues) throws(GrantError) {
        let keyIDs = values.has("key-id") ? values.all("key-id") : [Self.usualKeyID]
        guard keyIDs.count == values.keys.count else {
            throw GrantError("key-id", "has \(keyIDs.count) IDs for \(values.keys.count) keys; expected one for each")
        }
        let secrets = try values.keys.map { (key) throws(GrantError) in
            try GrantSecret(hexadecimal: String(decoding: key, as: UTF8.self))
        }
        try self.init(keys: zip(secrets, keyIDs).map { (key: $0, keyID: $1) })
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.notBefore) = (values["issuer"], period.end, period.begin)
        claims.issuedAt = now.wholeSeconds
        (claims.scope.scheme, claims.scope.host) = (values["scheme"], values["host"])
        (claims.scope.path, claims.scope.pathPrefix) = (values["path"], values["path-prefix"])
        let methods = values.all("method")
        if let problem = methods.compactMap(Self.methodProblem).first { throw GrantError("method", problem) }
        claims.methods = methods.isEmpty ? nil : methods
        for (name, path) in [("path", claims.scope.path), ("path-prefix", claims.scope.pathPrefix)] {
            guard let path, path.utf8.first != UInt8(ascii: "/") else { continue }
            throw GrantError(name, "is '\(printable(path))'; expected a path from / on")
        }
        if let digits = values["cti"] {
            do throws(GrantError) {
                claims.identifier = try GrantSecret.bytes(hexadecimal: digits)
            } catch {
                throw GrantError("cti", error.reason)
            }
        }
        claims.renewal = try CATRenewal(in: values)
        guard !claims.scope.isEmpty else {
            throw GrantError(
                "path-prefix", "is missing; expected --path-prefix (/ for every path), --path, --host or --scheme")
        }
        return try grant(claims)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantError) -> any RouteGrants {
        try CATRouteGrants(tokens: self, route, values)
    }
}
