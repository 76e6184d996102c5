package import Basics
internal import Settings

extension CommonAccessToken: GrantScheme {
    package static let kind = GrantKind(
        "cat", "Common Access Token (CTA-5007); --path-prefix, and a key of 32 bytes or more", settings,
        usualName: name,
        defaultDelivery: .cookie, limitsPath: true, takesSeveralKeys: true, contents: contents
    ) { (values) throws(GrantError) in try CommonAccessToken(values) }

    /// The IDs of the keys that values have, each at the place of its key.
    package static func keyIDs(of values: GrantValues) -> [String] {
        values.has("key-id") ? values.all("key-id") : [usualKeyID]
    }

    /// The ID of a key that has none in the settings.
    private static let usualKeyID = "media-token"
    private static let settings: [GrantSetting] = [
        .list(
            "key-id", "ID", .key,
            "name of the key in each token; with several keys, one for each (default \(usualKeyID))",
            example: ["2027-01", "2026-07"]),
        .text("path", "PATH", .scope, "exactly this path").only(in: .option),
        .text("path-prefix", "PATH", .scope, "paths that begin with this").only(in: .option),
        .text("scheme", "NAME", .scope, "exactly this scheme").only(in: .option),
        .text("host", "NAME", .scope, "exactly this host").only(in: .option),
        .list("method", "NAME", .scope, "with this method").only(in: .option),
        .list("methods", "NAME", .scope, "with these methods", example: ["GET", "HEAD"]) { methodProblem($0) }
            .only(in: .file),
        .starts,
        .text("issuer", "ID", .form, "who makes it", example: "gate.example"),
        .word("digest", .form, "sha256", ["sha256"]).only(in: .file),
        .text("cti", "HEX", .form, "the token's own ID").only(in: .option),
        .text(
            "renew", "KIND:S[:S]", .form,
            "renewal as cookie, header, redirect or automatic, for so many seconds; then those before the end in which it is renewed",
            example: "cookie:3600:600"
        ) { text in
            do throws(GrantError) { _ = try CATRenewal(text: text) } catch { return error.reason }
            return nil
        },
        .seconds(
            "renew-until", .form,
            "seconds from a grant's issue until which the gate renews it as a cookie; required if renew says so",
            to: GrantPeriod.longest, example: 28_800
        ).only(in: .file),
    ]

    private static func methodProblem(_ method: String) -> String? {
        let isMethod =
            !method.isEmpty && method.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        return isMethod ? nil : "is '\(printable(method))'; expected GET, HEAD, …"
    }

    init(_ values: GrantValues) throws(GrantError) {
        let keyIDs = Self.keyIDs(of: values)
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
}

extension CommonAccessToken {
    private static func contents(of grant: String) -> GrantContents? {
        guard grant.utf8.count <= sizeLimit,
            let bytes = try? Base64.decode(Array(grant.utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            let message = try? COSEMac0(bytes), let value = try? CBORReader.value(of: message.payload),
            let labels = value.labels
        else { return nil }
        // Claims of RFC 8392 that are not understood here.
        let otherNames: [Int64: String] = [2: "sub", 3: "aud"]
        func seconds(_ label: Int64) -> Int64? { labels.first { $0.label == label }?.value.integer }
        let fields = labels.map { label, value in
            let isTime = [CATLabel.expires, CATLabel.notBefore, CATLabel.issuedAt].contains(label)
            let date = isTime ? value.integer?.secondsWithDate : nil
            return (name: CATLabel.names[label] ?? otherNames[label] ?? "claim \(label)", text: date ?? value.shown)
        }
        return GrantContents(
            "Common Access Token (CTA-5007)",
            [(name: "kid", text: String(decoding: message.keyIdentifier, as: UTF8.self))] + fields,
            begin: seconds(CATLabel.notBefore), end: seconds(CATLabel.expires)
        ) { question in
            do throws(CATError) { return checks(of: try CATClaims(value), question) } catch {
                return [GrantCheck(.format, false, "\(error)")]
            }
        }
    }
}
