extension VerificationPolicy {
    /// The MVPD, and the proxy in front of it where there is one, are on the requestor's allow-list.
    ///
    /// In Adobe's words, a token is valid only if "its issuer is among the allowed identity providers".
    func mvpdRefusal(of claims: MediaTokenClaims) -> Rejection? {
        guard let allowed = allowedMVPDs[claims.requestor] else { return nil }
        func refusal(_ field: MediaTokenField, _ signed: MVPDID?) -> Rejection? {
            guard let signed, !allowed.contains(signed) else { return nil }
            return Rejection(.mvpd(field: "\(field.name)", signed: signed, allowed: allowed, for: claims.requestor))
        }
        return refusal(.mvpdID, claims.mvpd) ?? refusal(.proxyMVPDID, claims.proxyMVPD)
    }
}
