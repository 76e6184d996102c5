internal import Timestamps

/// A signed token that a policy has passed. Only ``VerificationPolicy/approve(_:for:at:)`` makes one.
///
/// It may still have been used before: that is for the replay store to say.
struct ApprovedToken: Sendable {
    let signed: SignedClaims

    fileprivate init(_ signed: SignedClaims) {
        self.signed = signed
    }

    /// What the replay store is asked.
    func replayClaim(repeatable repetition: Repetition?) -> Step<ReplayClaim> {
        let key = ReplayKey(signed.digest)
        let mark: ReplayMark?
        do throws(CannotTell) {
            mark = if let repetition { try ReplayMark(of: key, secret: repetition.secret) } else { nil }
        } catch {
            return .failure(.cannotTell(error))
        }
        return .success(
            ReplayClaim(
                key: key, issued: signed.claims.issueTime.timestamp, until: signed.claims.replayExpiry, mark: mark))
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
