internal import Glibc

/// A POSIX semaphore: a count that threads wait for.
///
/// `@unchecked Sendable`: a POSIX semaphore may be used from several threads, and its address never changes.
package final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Adds one to the count.
    package func signal() { sem_post(semaphore) }

    /// Waits until the count is above zero, and takes one off.
    package func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

    /// Waits for at most a tenth of a second; `false` if the count was not above zero by then.
    package func waitBriefly() -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_nsec += 100_000_000
        (end.tv_sec, end.tv_nsec) = (end.tv_sec + end.tv_nsec / 1_000_000_000, end.tv_nsec % 1_000_000_000)
        return sem_timedwait(semaphore, &end) == 0
    }
}
