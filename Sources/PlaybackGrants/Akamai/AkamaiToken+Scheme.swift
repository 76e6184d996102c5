internal import TextEncodings
package import Timestamps

extension AkamaiToken: GrantScheme {
    package static let kind = "akamai"
    package static let summary = "Edge Authorization token; --acl or --url"
    package static let settings = [
        GrantSetting("salt-file", .secretFile, .key, "file with the salt"),
        GrantSetting("url", .text("URL"), .scope, "one URL", in: .command, isQuestion: true),
        GrantSetting("acl", .list("PATH"), .scope, "path, with * for anything (repeatable)", in: .command),
        .ip,
        .starts,
        GrantSetting(
            "name", .text("NAME"), .form, "of the parameter, cookie or header (default hdnts)", example: "hdnts"
        ) { name in
            let isName = !name.isEmpty && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
            return isName ? nil : "is '\(printable(name))'; expected letters and digits"
        },
        GrantSetting(
            "digest", .word(Digest.allCases.map(\.rawValue)), .form, "sha256, sha1 or md5 (default sha256)"),
        GrantSetting("escape-early", .flag, .form, "percent-encode what is signed"),
        GrantSetting("id", .text("TEXT"), .form, "session ID", in: .command),
        GrantSetting("data", .text("TEXT"), .form, "payload", in: .command),
    ]

    package init(_ values: GrantValues) throws(GrantError) {
        let digest = values["digest"].flatMap(Digest.init) ?? .sha256
        try self.init(
            key: GrantSecret(hexadecimal: String(decoding: values.key, as: UTF8.self)), digest: digest)
        if let name = values["name"] { self.name = name }
        if let salt = values.secret("salt-file") {
            guard !salt.isEmpty else { throw GrantError("salt-file", "is empty; expected a salt") }
            self.salt = try GrantSecret(salt)
        }
        (ip, id, data) = (values["ip"], values["id"], values["data"])
        escapesEarly = values.has("escape-early")
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        let paths = values.all("acl")
        guard paths.isEmpty != (values["url"] == nil) else {
            throw GrantError("acl", "expected one of --acl and --url")
        }
        return try grant(values["url"].map { .url($0) } ?? .acl(paths), period)
    }

    package func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantError) -> any RouteGrants {
        AkamaiRouteGrants(tokens: self, prefix: route.prefix)
    }
}
