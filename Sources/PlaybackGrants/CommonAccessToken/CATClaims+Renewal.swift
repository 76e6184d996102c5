extension CATClaims {
    /// The claims of the token that replaces one with these claims, which opens a request `now`: the same ones with a
    /// later expiry. The result is `nil` if the renewal's time has not come, or the expiry cannot be later.
    ///
    /// The issue time stays that of the first token, so that it bounds all tokens that replace each other.
    ///
    /// - Parameters:
    ///   - longest: The seconds from the issue time after which no token is valid.
    ///   - now: The time of the request in seconds since 1970.
    func renewed(until longest: Int64, at now: Int64) -> CATClaims? {
        guard let renewal, let expires, expires &- now <= renewal.window else { return nil }
        guard renewal.kind.setsCookie, let issuedAt, issuedAt <= now else { return nil }
        let end = min(now + min(renewal.seconds, longest), issuedAt + longest)
        guard expires < end else { return nil }
        var claims = self
        claims.expires = end
        return claims
    }
}

extension CATRenewal {
    /// How many seconds before the expiry the renewal's time comes. The half of the new token's lifetime outlasts a
    /// pause, and is over as soon as the token is renewed.
    fileprivate var window: Int64 { deadline ?? seconds / 2 }
}

extension CATRenewal.Kind {
    /// Whether a renewed token may be set as a cookie.
    var setsCookie: Bool { self == .cookie || self == .automatic }
}
