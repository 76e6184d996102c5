package import Basics
internal import MediaToken
package import EventLoops

/// Warns, at most once a day, if the gate's own certificate has expired or is about to expire.
package struct CertificateWatch {
    private static let day: Int64 = 86_400
    private static let noticeDays: Int64 = 14

    /// The certificate expiry that the last warning was about, and the time of that warning, in seconds since 1970.
    private var last: (end: Int64, time: Int64)?

    package init() {}

    /// The warning to print now; `nil` if none is due. The caller asks at least once an hour.
    package mutating func warning(_ tls: TLSServer?, at now: Timestamp) -> String? {
        tls.flatMap { warning($0.certificate, ending: $0.end, at: now) }
    }

    /// - Parameter end: The expiry of the certificate, in seconds since 1970.
    mutating func warning(_ file: String, ending end: Int64, at now: Timestamp) -> String? {
        let seconds = now.wholeSeconds
        guard end - seconds <= Self.noticeDays * Self.day else { return nil }
        // A renewed certificate has another expiry, so a warning about it does not wait for the next day.
        if let last, last.end == end, seconds - last.time < Self.day { return nil }
        last = (end, seconds)
        let date = TokenDate(Timestamp(milliseconds: end * 1000))
        return end < seconds
            ? "\(file): expired \(date); clients refuse it; replace the file, and the gate reloads it (at SIGHUP if watch is 0)"
            : "\(file): expires \(date), in \((end - seconds) / Self.day) days; replace the file, and the gate reloads it (at SIGHUP if watch is 0)"
    }
}
