/// A signed token that a policy has passed. Only ``VerificationPolicy/approve(_:for:at:)`` makes one.
///
/// It may still have been used before: that is for the replay store to say.
struct ApprovedToken: Sendable {
    let signed: SignedClaims

    fileprivate init(_ signed: SignedClaims) {
        self.signed = signed
    }

    /// What the replay store is asked.
    var replayClaim: ReplayClaim {
        ReplayClaim(
            key: ReplayKey(signed.digest), issued: signed.claims.issueTime.timestamp,
            until: signed.claims.replayExpiry)
    }
}

extension VerificationPolicy {
    /// Makes every check in its order and stops at the first refusal.
    func approve(
        _ signed: SignedClaims, for expectation: Expectation, at now: Timestamp
    ) -> Step<ApprovedToken> {
        for check in PolicyCheck.inOrder {
            if let rejection = refusal(check, of: signed.claims, for: expectation, at: now) {
                return .failure(.rejected(rejection))
            }
        }
        return .success(ApprovedToken(signed))
    }
}
