package import Basics
package import ClaimsStage

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
    /// Makes the checks in order, and throws the failure of the first that the token does not pass.
    package func approve(
        _ signed: SignedClaims, for expectation: Expectation, at now: Timestamp
    ) throws(PolicyFailure) -> ApprovedToken {
        for check in PolicyCheck.inOrder {
            if let failure = check.failure(self, signed.claims, expectation, now) { throw failure }
        }
        return ApprovedToken(signed, expiry: expiry(of: signed.claims))
    }
}
