internal import Timestamps

extension Int64 {
    /// The number of seconds since 1970 as a date in UTC; the number itself if no date has it.
    var secondsAsDate: String {
        let (milliseconds, overflows) = multipliedReportingOverflow(by: 1000)
        return overflows ? "\(self) seconds since 1970" : Timestamp(milliseconds: milliseconds).utcText
    }
}
