extension VerificationPolicy {
    /// `issueTime − skew ≤ now ≤ issueTime + ttl + skew`, to the millisecond.
    func windowRefusal(of claims: MediaTokenClaims, at now: Timestamp) -> Rejection? {
        let window = TimeWindow(
            issued: claims.issueTime, expiry: expiry(of: claims), skew: clockSkewMilliseconds, now: now)
        if now < claims.issueTime.timestamp.advanced(byMilliseconds: -clockSkewMilliseconds) {
            return Rejection(.notYetValid(window))
        }
        if now > window.expiry.advanced(byMilliseconds: clockSkewMilliseconds) {
            return Rejection(.expired(window))
        }
        return nil
    }
}

/// The times that decide, kept for the message.
struct TimeWindow: Sendable {
    let issued: TokenDate
    let expiry: Timestamp
    /// Milliseconds.
    let skew: Int64
    let now: Timestamp

    var notYetValidMessage: String {
        "issued \(issued), which is \(span(issued.timestamp.milliseconds(since: now))) ahead of the time of the check, "
            + "\(shown(now)); \(span(skew)) of skew are allowed"
    }

    var expiredMessage: String {
        "expired \(shown(expiry)) (issued \(issued)), which is \(span(now.milliseconds(since: expiry))) before the time "
            + "of the check, \(shown(now)); \(span(skew)) of skew are allowed"
    }

    var validMessage: String {
        "issued \(issued), expires \(shown(expiry)); checked \(shown(now)), \(span(skew)) of skew allowed"
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
