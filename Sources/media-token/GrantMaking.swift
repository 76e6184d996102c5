internal import MediaTokenGate
internal import PlaybackGrants
internal import TextEncodings

extension GrantMaker {
    func grant(_ options: GrantOptions) throws(GrantProblem) -> Grant {
        let period = try options.period()
        switch self {
        case .akamai(let maker):
            let paths = options.all("acl")
            guard paths.isEmpty != (options["url"] == nil) else {
                throw GrantProblem("acl", "expected one of --acl and --url")
            }
            return try maker.grant(options["url"].map { .url($0) } ?? .acl(paths), period)
        case .cloudFront(let maker): return try maker.grant(url: options.required("url"), period)
        case .secureLink(let maker):
            guard options["ip"] == nil || maker.namesAddress else {
                throw GrantProblem("ip", "is given, and the expression has no $remote_addr; expected both or neither")
            }
            return try maker.grant(uri: options.required("path"), period)
        case .cat(let maker): return try maker.grant(Self.claims(options, period))
        }
    }

    func check(_ grant: String, _ options: GrantOptions) throws(GrantProblem) -> [GrantCheck] {
        var question = GrantQuestion(at: options.now)
        question.url = options.stream
        (question.ip, question.issuer) = (options["ip"], options["issuer"])
        question.method = options.all("method").first
        switch self {
        case .akamai(let maker): return try maker.check(CapturedGrant.query(grant, named: maker.name), question)
        case .cloudFront(let maker): return try maker.check(CapturedGrant.query(grant, named: nil), question)
        case .secureLink(let maker): return try maker.check(CapturedGrant.query(grant, named: nil), question)
        case .cat(let maker):
            return maker.check(CapturedGrant.query(grant, named: CommonAccessToken.name), question)
        }
    }

    private static func claims(_ options: GrantOptions, _ period: GrantPeriod) throws(GrantProblem) -> CATClaims {
        var claims = CATClaims()
        (claims.issuer, claims.expires, claims.notBefore) = (options["issuer"], period.end, period.begin)
        claims.issuedAt = options.now.milliseconds / 1000
        (claims.scope.scheme, claims.scope.host) = (options["scheme"], options["host"])
        (claims.scope.path, claims.scope.pathPrefix) = (options["path"], options["path-prefix"])
        claims.methods = options.all("method").isEmpty ? nil : options.all("method")
        for method in options.all("method") where !method.isMethod {
            throw GrantProblem("method", "is '\(printable(method))'; expected GET, HEAD, …")
        }
        for (name, path) in [("path", claims.scope.path), ("path-prefix", claims.scope.pathPrefix)] {
            guard let path, path.utf8.first != UInt8(ascii: "/") else { continue }
            throw GrantProblem(name, "is '\(printable(path))'; expected a path from / on")
        }
        if let digits = options["cti"] {
            do throws(GrantProblem) {
                claims.identifier = try GrantSecret.bytes(hexadecimal: digits)
            } catch {
                throw GrantProblem("cti", error.reason)
            }
        }
        if let text = options["renew"] { claims.renewal = try CATRenewal(text: text) }
        guard !claims.scope.isEmpty else {
            throw GrantProblem(
                "path-prefix", "is missing; expected --path-prefix (/ for every path), --path, --host or --scheme")
        }
        return claims
    }
}

extension GrantOptions {
    var settings: GrantSettings {
        var settings = GrantSettings(kind)
        (settings.keyFile, settings.keyEnvironment, settings.saltFile) = (
            self["key-file"], self["key-env"], self["salt-file"]
        )
        (settings.keyID, settings.keyPairID, settings.name) = (self["key-id"], self["key-pair-id"], self["name"])
        (settings.digest, settings.escapesEarly, settings.expression) = (
            digest, has("escape-early"), self["expression"]
        )
        (settings.ip, settings.id, settings.data) = (self["ip"], self["id"], self["data"])
        return settings
    }
}
