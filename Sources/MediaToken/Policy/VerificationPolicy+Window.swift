internal import Timestamps

extension VerificationPolicy {
    /// `issueTime − skew ≤ now ≤ issueTime + ttl + skew`, to the millisecond.
    func windowRefusal(of claims: MediaTokenClaims, at now: Timestamp) -> Rejection? {
        let window = window(of: claims, at: now)
        if now < claims.issueTime.timestamp.advanced(byMilliseconds: -clockSkewMilliseconds) {
            return Rejection(.notYetValid(window))
        }
        if now > window.expiry.advanced(byMilliseconds: clockSkewMilliseconds) {
            return Rejection(.expired(window))
        }
        return nil
    }
}

extension VerificationPolicy {
    /// The times that decide on `claims`.
    func window(of claims: MediaTokenClaims, at now: Timestamp) -> TimeWindow {
        TimeWindow(
            issued: claims.issueTime, signedTimeToLive: claims.timeToLive, expiry: expiry(of: claims),
            skew: clockSkewMilliseconds, now: now)
    }
}

/// The times that decide, kept for the message.
struct TimeWindow: Sendable {
    let issued: TokenDate
    /// Milliseconds; `nil` where the token has none.
    let signedTimeToLive: Int64?
    /// What the policy makes of it.
    let expiry: Timestamp
    /// Milliseconds.
    let skew: Int64
    let now: Timestamp

    var notYetValidMessage: String {
        "issued \(issued), which is \(span(issued.timestamp.milliseconds(since: now))) ahead of the time of the check, "
            + "\(shown(now)); \(span(skew)) of skew are allowed"
    }

    var expiredMessage: String {
        "expired \(shown(expiry)) (issued \(issued)\(lifeNote)), which is \(span(now.milliseconds(since: expiry))) before the time "
            + "of the check, \(shown(now)); \(span(skew)) of skew are allowed"
    }

    var validMessage: String {
        "issued \(issued), expires \(shown(expiry))\(lifeNote); checked \(shown(now)), \(span(skew)) of skew allowed"
    }

    /// What the policy did to the token's life, where it did something.
    private var lifeNote: String {
        let life = expiry.milliseconds(since: issued.timestamp)
        guard let signedTimeToLive else { return ", no ttl: the default of \(span(life)) applies" }
        guard signedTimeToLive != life else { return "" }
        return ", ttl of \(span(signedTimeToLive)) cut to \(span(life)) by maximumTTL, --max-ttl"
    }

    /// At the token's own offset, so that the times can be compared at a glance.
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
