internal import MediaToken

extension CommonAccessToken {
    /// Looks at a token, with or without its name in front.
    ///
    /// - Parameter question: its URL may be a path alone; then a scheme or a host in the token is not compared.
    public func check(_ token: String, _ question: GrantQuestion) -> [GrantCheck] {
        let prefix = Self.name + "="
        let bare = token.utf8.starts(with: prefix.utf8) ? String(token.utf8.dropFirst(prefix.utf8.count)) ?? "" : token
        let claims: CATClaims
        do throws(CATRefusal) {
            claims = try authenticClaims(of: bare)
        } catch {
            let subject: GrantCheck.Subject = error == .otherKey ? .key : .format
            return [GrantCheck(subject, false, "\(error)")]
        }
        var checks = [
            GrantCheck(.format, true, "a CWT in a COSE_Mac0"), GrantCheck(.key, true, "HMAC 256/256"),
            question.begin(claims.notBefore),
            claims.expires.map { question.end($0, isInclusive: false) }
                ?? GrantCheck(.end, false, "\(CATRefusal.noEnd)"),
        ].compactMap(\.self)
        if claims.issuer != nil || question.issuer != nil {
            let isSame = question.issuer.map { expected in claims.issuer.map { $0.hasSameBytes(as: expected) } ?? false
            }
            let expected = question.issuer.map { "; expected \(printable($0))" } ?? ""
            checks.append(GrantCheck(.issuer, isSame, printable(claims.issuer ?? "(none)") + expected))
        }
        if let methods = claims.methods {
            let isAllowed = question.method.map { method in methods.contains { $0.hasSameBytes(as: method) } }
            checks.append(GrantCheck(.method, isAllowed, "for \(printable(methods.joined(separator: ", ")))"))
        }
        if !claims.scope.isEmpty { checks.append(scope(claims.scope, question)) }
        return checks
    }

    private func scope(_ scope: CATScope, _ question: GrantQuestion) -> GrantCheck {
        let parts = [
            scope.scheme.map { "scheme \($0)" }, scope.host.map { "host \($0)" }, scope.path.map { "path \($0)" },
            scope.pathPrefix.map { "paths from \($0) on" },
        ]
        let detail = "for " + printable(parts.compactMap(\.self).joined(separator: ", "), limit: 1024)
        guard let url = question.url else { return GrantCheck(.scope, nil, detail) }
        let request = CATRequest(method: question.method ?? "GET", url: url)
        // A path alone says nothing of scheme and host.
        var scope = scope
        if request.host == nil { (scope.scheme, scope.host) = (nil, nil) }
        let difference = scope.difference(from: request)
        return GrantCheck(.scope, difference == nil, difference ?? detail + "; asked for \(printable(url))")
    }
}

extension CATRequest {
    /// - Parameter url: an absolute URL, or a path.
    init(method: String, url: String) {
        let bare = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let mark = "://"
        guard let scheme = bare.firstRange(of: Array(mark.utf8)) else {
            self.init(method: method, path: String(Substring(bare)))
            return
        }
        let rest = bare[scheme.upperBound...]
        let host = rest.prefix { $0 != UInt8(ascii: "/") }
        let path = rest.dropFirst(host.count)
        self.init(
            method: method, scheme: String(Substring(bare[..<scheme.lowerBound])), host: String(Substring(host)),
            path: path.isEmpty ? "/" : String(Substring(path)))
    }
}
