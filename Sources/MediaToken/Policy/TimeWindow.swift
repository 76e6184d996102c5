internal import Basics
internal import ClaimsStage

extension VerificationPolicy {
    /// The times that decide whether `claims` are valid at `now`.
    func window(of claims: MediaTokenClaims, at now: Timestamp) -> TimeWindow {
        TimeWindow(
            issued: claims.issueTime, signedTimeToLive: claims.ttlMilliseconds, expiry: expiry(of: claims),
            skew: clockSkewMilliseconds, now: now)
    }
}

/// The times that decide whether a token is valid, kept for the message.
struct TimeWindow: Sendable {
    let issued: TokenDate
    /// The signed TTL in milliseconds; `nil` if the token has no `ttl`.
    let signedTimeToLive: Int64?
    /// The token's expiry under the policy, before skew.
    let expiry: Timestamp
    /// The clock skew that the policy allows, in milliseconds.
    let skew: Int64
    let now: Timestamp

    /// One line on the token's dates, on the time of the check, and on the skew.
    var message: String { "\(summary); \(conditions)" }

    /// The time of the check, and the skew.
    var conditions: String { "checked \(shown(now)), \(Span(milliseconds: skew)) of skew allowed" }

    /// How far away the token's dates are at the time of the check, and the dates.
    var summary: String { "\(distance) (issued \(issued), expires \(shown(expiry))\(ttlNote))" }

    private var distance: String {
        if now < issued.timestamp { return issued.timestamp.futureIssueInWords(at: now) }
        return expiry.expiryInWords(at: now) + (now > expiry ? "; lived \(lifetime)" : "")
    }

    private var lifetime: Span { Span(milliseconds: expiry.milliseconds(since: issued.timestamp)) }

    /// How the policy changed the token's TTL; empty if it did not.
    private var ttlNote: String {
        guard let signedTimeToLive else { return ", no ttl: the default of \(lifetime) applies" }
        guard signedTimeToLive != expiry.milliseconds(since: issued.timestamp) else { return "" }
        return ", ttl of \(Span(milliseconds: signedTimeToLive)) cut to \(lifetime) by maximumTTL, --max-ttl"
    }

    /// Formats a time at the token's own offset, so that the times in a message can be compared at a glance.
    private func shown(_ time: Timestamp) -> String {
        TokenDate(time, offset: issued.offset).description
    }
}
