package import ClaimsStage
package import Timestamps

/// A signed token that a policy has approved. Only ``VerificationPolicy/approve(_:for:at:)`` makes one.
///
/// The token may still have been used before; the replay store decides that.
package struct ApprovedToken: Sendable {
    package let signed: SignedClaims
    /// The token's expiry under the policy, before skew.
    package let expiry: Timestamp

    fileprivate init(_ signed: SignedClaims, expiry: Timestamp) {
        (self.signed, self.expiry) = (signed, expiry)
    }
}

extension VerificationPolicy {
    /// Makes the checks in order, and throws the error of the first that fails.
    package func approve(
        _ signed: SignedClaims, for expectation: Expectation, at now: Timestamp
    ) throws(PolicyError) -> ApprovedToken {
        for check in PolicyCheck.inOrder {
            try self.check(check, of: signed.claims, for: expectation, at: now)
        }
        return ApprovedToken(signed, expiry: expiry(of: signed.claims))
    }

    /// Makes one check, and throws if the token fails it.
    package func check(
        _ check: PolicyCheck, of claims: MediaTokenClaims, for expectation: Expectation, at now: Timestamp
    ) throws(PolicyError) {
        switch check {
        case .window: try checkWindow(of: claims, at: now)
        case .requestor: try checkRequestor(of: claims, for: expectation)
        case .resource: try checkResource(of: claims, for: expectation)
        case .mvpd: try checkMVPD(of: claims)
        }
    }

    /// Checks `issueTime − skew ≤ now ≤ issueTime + TTL + skew`, to the millisecond. The TTL is the signed `ttl`, limited
    /// to ``maximumTTL``, or ``defaultTTL`` if the token has none.
    package func checkWindow(of claims: MediaTokenClaims, at now: Timestamp) throws(PolicyError) {
        let window = window(of: claims, at: now)
        if now < claims.issueTime.timestamp.advanced(byMilliseconds: -clockSkewMilliseconds) {
            throw .notYetValid(window)
        }
        if now > window.expiry.advanced(byMilliseconds: clockSkewMilliseconds) { throw .expired(window) }
    }

    /// Checks that the token was issued to one of the expected requestors, compared byte for byte.
    private func checkRequestor(of claims: MediaTokenClaims, for expectation: Expectation) throws(PolicyError) {
        guard expectation.requestors.contains(claims.requestor) else {
            throw .requestor(signed: claims.requestor, expected: expectation.requestors)
        }
    }

    /// Checks that the token is for the expected resource, by the comparison that the caller chose.
    private func checkResource(of claims: MediaTokenClaims, for expectation: Expectation) throws(PolicyError) {
        guard expectation.resource.matches(claims.resource) else {
            throw .resource(signed: claims.resource, expected: expectation.resource)
        }
    }

    /// Checks that the MVPD, and the proxy in front of it if there is one, are on the requestor's allow-list.
    ///
    /// A requestor without an allow-list is not restricted. In Adobe's words, where the issuer is the MVPD, a token is
    /// valid only if "its issuer is among the allowed identity providers".
    package func checkMVPD(of claims: MediaTokenClaims) throws(PolicyError) {
        guard let allowed = allowedMVPDs[claims.requestor] else { return }
        if !allowed.contains(claims.mvpd) {
            if let proxy = claims.proxyMVPD, allowed.contains(proxy) {
                throw .exchangedMVPDs(signed: claims.mvpd, proxy: proxy, for: claims.requestor)
            }
            throw .mvpd(
                field: "\(MediaTokenField.mvpdID.name)", signed: claims.mvpd, allowed: allowed, for: claims.requestor)
        }
        if let proxy = claims.proxyMVPD, !allowed.contains(proxy) {
            throw .mvpd(
                field: "\(MediaTokenField.proxyMVPDID.name)", signed: proxy, allowed: allowed, for: claims.requestor)
        }
    }
}

/// The checks of a policy, in the order in which they are made; the first that fails decides the verdict.
package enum PolicyCheck: CaseIterable, Sendable {
    case window, requestor, resource, mvpd

    /// The checks in order. `allCases` would build a new array for each token.
    package static let inOrder = allCases
}
