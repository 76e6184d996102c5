internal import Glibc

/// A separate thread, for work that blocks or runs as long as the process does.
///
/// `@unchecked Sendable`: the identifier is set in the initializer, and one owner joins or detaches the thread.
package final class ServiceThread: @unchecked Sendable {
    private let thread: pthread_t

    /// The signals of a thread's own faults. A fault whose signal is blocked ends the process without a word.
    private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]

    /// Starts the thread; `nil` if the process cannot create another one. Only the main thread handles signals, but for
    /// those of faults.
    package init?(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        for signal in Self.faults { sigdelset(&all, signal) }
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

    /// Waits for the thread to end. The owner must call either this or ``detach()``, once.
    package func join() {
        pthread_join(thread, nil)
    }

    /// Detaches the thread, if no other thread can wait for its end.
    package func detach() {
        pthread_detach(thread)
    }

    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
