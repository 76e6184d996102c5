package import Basics
internal import Settings

extension AkamaiToken: GrantScheme {
    package static let kind = "akamai"
    package static let summary = "Edge Authorization token; --acl or --url"
    package static let secretFile: String? = "salt-file"
    package static let settings: [GrantSetting] = [
        .text("salt-file", "FILE", .key, "file with the salt", example: "/etc/media-token/salt-file"),
        .text("url", "URL", .scope, "one URL").only(in: .option),
        .list("acl", "PATH", .scope, "path, with * for anything").only(in: .option),
        .ip,
        .starts,
        .text("name", "NAME", .form, "of the parameter, cookie or header (default hdnts)", example: "hdnts") { name in
            let isName = !name.isEmpty && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
            return isName ? nil : "is '\(printable(name))'; expected letters, digits and _"
        },
        .word("digest", .form, "sha256 (default), sha1 or md5", Digest.allCases.map(\.rawValue)),
        .flag("escape-early", .form, "percent-encode what is signed"),
        .text("id", "TEXT", .form, "session ID").only(in: .option),
        .text("data", "TEXT", .form, "payload").only(in: .option),
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
