internal import MediaToken
package import HTTPServer
package import Timestamps

/// Says when the gate's own certificate is about to end, or has ended, at most once a day.
package struct CertificateWatch {
    private static let day: Int64 = 86_400
    private static let noticeDays: Int64 = 14

    /// The expiry time that the last warning was about, and the time of that warning.
    private var last: (end: Int64, time: Int64)?

    package init() {}

    /// The line to be printed now, if one is due; to be asked for about once an hour.
    package mutating func warning(_ tls: TLSContext?, at now: Timestamp) -> String? {
        tls.flatMap { warning($0.certificate, ending: $0.end, at: now) }
    }

    /// - Parameter end: in seconds since 1970.
    mutating func warning(_ file: String, ending end: Int64, at now: Timestamp) -> String? {
        let seconds = now.milliseconds / 1000
        guard end - seconds <= Self.noticeDays * Self.day else { return nil }
        // A renewed certificate has another expiry time, and is warned of at once.
        if let last, last.end == end, seconds - last.time < Self.day { return nil }
        last = (end, seconds)
        let date = TokenDate(Timestamp(milliseconds: end * 1000))
        return end < seconds
            ? "warning: \(file): has ended \(date); clients refuse it; put a new one there, and send SIGHUP"
            : "warning: \(file): ends \(date), in \((end - seconds) / Self.day) days; put a new one there, and send SIGHUP"
    }
}
