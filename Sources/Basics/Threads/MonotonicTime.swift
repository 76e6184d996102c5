internal import Glibc

/// A clock that only goes forward, for measuring how long something takes.
package enum MonotonicTime {
    /// The current time in nanoseconds since an arbitrary start.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
