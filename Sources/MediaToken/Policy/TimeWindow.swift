package import ClaimsStage
package import Timestamps

extension VerificationPolicy {
    /// The times that decide whether `claims` are valid at `now`.
    package func window(of claims: MediaTokenClaims, at now: Timestamp) -> TimeWindow {
        TimeWindow(
            issued: claims.issueTime, signedTimeToLive: claims.ttlMilliseconds, expiry: expiry(of: claims),
            skew: clockSkewMilliseconds, now: now)
    }
}

/// The times that decide whether a token is valid, kept for the message.
package struct TimeWindow: Sendable {
    let issued: TokenDate
    /// The signed TTL in milliseconds; `nil` if the token has no `ttl`.
    let signedTimeToLive: Int64?
    /// The token's expiry under the policy, before skew.
    let expiry: Timestamp
    /// The clock skew that the policy allows, in milliseconds.
    let skew: Int64
    let now: Timestamp

    var notYetValidMessage: String {
        "issued \(issued), which is \(span(issued.timestamp.milliseconds(since: now))) ahead of the time of the check, "
            + "\(shown(now)); \(span(skew)) of skew are allowed"
    }

    var expiredMessage: String {
        "expired \(shown(expiry)) (issued \(issued)\(ttlNote)), which is \(span(now.milliseconds(since: expiry))) before the time "
            + "of the check, \(shown(now)); \(span(skew)) of skew are allowed"
    }

    package var validMessage: String {
        "issued \(issued), expires \(shown(expiry))\(ttlNote); checked \(shown(now)), \(span(skew)) of skew allowed"
    }

    /// How the policy changed the token's TTL; empty if it did not.
    private var ttlNote: String {
        let life = expiry.milliseconds(since: issued.timestamp)
        guard let signedTimeToLive else { return ", no ttl: the default of \(span(life)) applies" }
        guard signedTimeToLive != life else { return "" }
        return ", ttl of \(span(signedTimeToLive)) cut to \(span(life)) by maximumTTL, --max-ttl"
    }

    /// Formats a time at the token's own offset, so that the times in a message can be compared at a glance.
    private func shown(_ time: Timestamp) -> String {
        TokenDate(time, offset: issued.offset).description
    }

    private func span(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        switch abs(seconds) {
        case 0 where milliseconds % 1000 != 0: return "\(milliseconds) ms"
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<172_800: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) days"
        }
    }
}
