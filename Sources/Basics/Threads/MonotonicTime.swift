internal import Glibc

/// A clock that only goes forward, for measuring how long something takes.
package enum MonotonicTime {
    /// The current time in nanoseconds since an arbitrary start.
    package static var nanoseconds: UInt64 { now(CLOCK_MONOTONIC) }

    /// The nanoseconds for which the calling thread has run on a processor.
    package static var ofThisThread: UInt64 { now(CLOCK_THREAD_CPUTIME_ID) }

    private static func now(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
