internal import Glibc
internal import MediaToken

/// The clock of this machine's user, as the environment variable `TZ` or the system's setting has it.
enum LocalTime {
    /// The offset at a time, in minutes east of Greenwich.
    static func offset(at time: Timestamp) -> Int {
        var seconds = time_t(time.wholeSeconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return 0 }
        return local.tm_gmtoff / 60
    }
}
