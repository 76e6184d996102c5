internal import MediaToken

extension CommonAccessToken {
    /// Looks at a token, with or without its name in front.
    ///
    /// - Parameter question: its URL may be a path alone; then a scheme or a host in the token is not compared.
    public func check(_ token: String, _ question: GrantQuestion) -> [GrantCheck] {
        let claims: CATClaims
        do throws(CATRefusal) {
            claims = try authenticClaims(of: token.withoutName(Self.name))
        } catch {
            let subject: GrantCheck.Subject = error == .otherKey ? .key : .format
            return [GrantCheck(subject, false, "\(error)")]
        }
        let request = CATRequest(method: question.method ?? "", url: question.url ?? "/")
        var compared = claims
        if request.host == nil { (compared.scope.scheme, compared.scope.host) = (nil, nil) }
        let found = CATClaims.checks.compactMap { subject -> GrantCheck? in
            let isAsked = question.asks(subject)
            let refusal =
                isAsked ? compared.refusal(subject, of: request, issuer: question.issuer, at: question.now) : nil
            guard let detail = refusal.map({ "\($0)" }) ?? claims.detail(of: subject) else { return nil }
            return GrantCheck(subject, isAsked ? refusal == nil : nil, detail)
        }
        return [GrantCheck(.format, true, "a CWT in a COSE_Mac0"), GrantCheck(.key, true, "HMAC 256/256")] + found
    }
}

extension GrantQuestion {
    /// Whether it can be told by what was asked.
    fileprivate func asks(_ subject: GrantCheck.Subject) -> Bool {
        switch subject {
        case .issuer: issuer != nil
        case .method: method != nil
        case .ip: ip != nil
        case .scope: url != nil
        case .format, .key, .begin, .end: true
        }
    }
}

extension CATClaims {
    /// What they say of it; `nil` for nothing.
    fileprivate func detail(of subject: GrantCheck.Subject) -> String? {
        switch subject {
        case .begin: notBefore.map { "holds from \($0) on" }
        case .end: expires.map { "holds until \($0)" }
        case .issuer: issuer.map { "made by \(printable($0))" }
        case .method: methods.map { "for \(printable($0.joined(separator: ", ")))" }
        case .scope: scope.isEmpty ? nil : "for " + scope.detail
        case .format, .key, .ip: nil
        }
    }
}

extension CATScope {
    fileprivate var detail: String {
        let parts = [
            scheme.map { "scheme \($0)" }, host.map { "host \($0)" }, path.map { "path \($0)" },
            pathPrefix.map { "paths from \($0) on" },
        ]
        return printable(parts.compactMap(\.self).joined(separator: ", "), limit: 1024)
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
