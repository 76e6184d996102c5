internal import Glibc

/// A thread of one's own, for work that blocks or runs for as long as the process does.
///
/// `@unchecked Sendable`: the identifier is set before the thread is handed out, and joined or left alone by one owner.
package final class ServiceThread: @unchecked Sendable {
    private let thread: pthread_t

    /// Starts it; `nil` where the process may have no more of them. All signals are left to the main thread.
    package init?(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { work in
                guard let work else { return nil }
                Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            return nil
        }
        self.thread = thread
    }

    /// Waits for its end. Either this is to be called, once, or ``detach()``.
    package func join() {
        pthread_join(thread, nil)
    }

    /// Leaves it alone, for one whose end nobody can wait for.
    package func detach() {
        pthread_detach(thread)
    }

    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
