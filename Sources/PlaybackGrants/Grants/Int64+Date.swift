internal import Timestamps

extension Int64 {
    /// The number of seconds since 1970 as a date in UTC; the number itself if it is after the year 9999.
    var secondsAsDate: String {
        guard self < GrantPeriod.latest, let timestamp else { return "\(self) seconds since 1970" }
        return timestamp.utcText
    }
}
