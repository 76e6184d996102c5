internal import Basics

extension CommonAccessToken {
    /// Checks a token, with or without `CTA-Common-Access-Token=` in front.
    ///
    /// - Parameters:
    ///   - token: The token, in Base64 for URLs.
    ///   - question: The request that the token is checked for. If its URL is only a path, a scheme or a host in the
    ///     token is not compared.
    /// - Throws: ``GrantError`` if libcrypto fails, so that nobody can tell whether the token is authentic.
    public func check(_ token: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let claims: CATClaims
        do throws(CATError) { claims = try authenticClaims(of: token.withoutName(Self.name)) } catch {
            switch error {
            // Unreached: libcrypto fails to compute an HMAC.
            case .cannotTell(let reason): throw GrantError("key", "cannot be used: \(reason)")
            case .otherKey, .unknownKey: return [GrantCheck(.key, false, "\(error)")]
            case .malformed, .unknownClaim, .noEnd, .expired, .notYetValid, .otherIssuer, .outOfScope:
                return [GrantCheck(.format, false, "\(error)")]
            }
        }
        return [GrantCheck(.format, true, "a CWT in a COSE_Mac0"), GrantCheck(.key, true, "HMAC 256/256")]
            + Self.checks(of: claims, question)
    }

    /// The checks that need no key.
    static func checks(of claims: CATClaims, _ question: GrantQuestion) -> [GrantCheck] {
        let url = RequestedURL(question.url ?? "/")
        return CATClaims.checks.compactMap { subject in
            subject == .scope && question.url != nil
                ? scope(claims.scope, url) : check(subject, of: claims, question)
        }
    }

    /// The result of one check; `nil` if the claims do not mention the subject and need not.
    private static func check(
        _ subject: GrantCheck.Subject, of claims: CATClaims, _ question: GrantQuestion
    ) -> GrantCheck? {
        let (isAsked, request) = (question.asks(subject), CATRequest(method: question.method, path: "/"))
        if isAsked, let refusal = claims.refusal(subject, of: request, issuer: question.issuer, at: question.now) {
            return GrantCheck(subject, false, "\(refusal)")
        }
        return claims.detail(of: subject, at: question.seconds).map { GrantCheck(subject, isAsked ? true : nil, $0) }
    }

    private static func scope(_ scope: CATScope, _ url: RequestedURL) -> GrantCheck? {
        guard !scope.isEmpty else { return nil }
        guard let path = url.decodedPath else { return GrantCheck(.scope, false, url.problem) }
        var compared = scope
        // If the question has only a path, the token's scheme and host cannot be compared.
        if url.host == nil { (compared.scheme, compared.host) = (nil, nil) }
        var request = CATRequest(method: nil, scheme: url.scheme, host: url.host, path: path)
        if let difference = compared.difference(from: request) { return GrantCheck(.scope, false, difference) }
        // Whether a CDN decodes a path before it compares it is not known.
        request.path = url.sentPath
        // Unreached: A path of the command line that the token does not cover; the tests of checks have it.
        if let difference = compared.difference(from: request) {
            return GrantCheck(.scope, decided: nil, "unless the CDN compares the path as it is sent: " + difference)
        }
        // Unreached: A host of the command line in another spelling; the tests of checks have it.
        guard url.host == nil || url.hasOneSpelling else { return GrantCheck(.scope, decided: nil, url.problem) }
        return GrantCheck(.scope, compared == scope ? true : nil, "for " + scope.detail)
    }
}

extension GrantQuestion {
    /// Whether the question contains what a check of the subject needs.
    fileprivate func asks(_ subject: GrantCheck.Subject) -> Bool {
        switch subject {
        case .issuer: issuer != nil
        case .method: method != nil
        // Unreached: A subject that is not among the checks of claims; the switch must name it.
        case .ip: ip != nil
        case .scope: url != nil
        case .format, .key, .begin, .end: true
        }
    }
}

extension CATClaims {
    /// What the claims say about the subject; `nil` if they do not mention it.
    fileprivate func detail(of subject: GrantCheck.Subject, at now: Int64) -> String? {
        switch subject {
        case .begin: notBefore.map { "holds from \($0.secondsAsDate) on; it is \(now.secondsAsDate)" }
        case .end: expires.map { "holds until \($0.secondsAsDate); it is \(now.secondsAsDate)" }
        case .issuer: issuer.map { "made by \(printable($0))" }
        case .method: methods.map { "for \(printable($0.joined(separator: ", ")))" }
        case .scope: scope.isEmpty ? nil : "for " + scope.detail
        // Unreached: Subjects that are not among the checks of claims; the switch must name them.
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
