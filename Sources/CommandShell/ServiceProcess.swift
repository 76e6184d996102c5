internal import CProcess
internal import Glibc

/// The set-up that a process needs before its first thread starts, to serve for months.
package struct ServiceProcess {
    private let signals: sigset_t

    /// Blocks the signals of service managers in all threads, so that ``nextSignal(withinSeconds:)`` receives them, and
    /// keeps the secrets in the process's memory out of core dumps and of other processes.
    package init() {
        _ = process_forbid_dumps()
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        self.signals = signals
    }

    /// Waits for SIGTERM, SIGINT or SIGHUP; `nil` if none arrives within `seconds`.
    package func nextSignal(withinSeconds seconds: Int) -> Int32? {
        var (signals, patience) = (signals, timespec(tv_sec: seconds, tv_nsec: 0))
        let signal = sigtimedwait(&signals, nil, &patience)
        return signal > 0 ? signal : nil
    }

    /// Whether SIGTERM or SIGINT has arrived, which ``nextSignal(withinSeconds:)`` then receives.
    package var isToldToStop: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return [SIGTERM, SIGINT].contains { sigismember(&pending, $0) == 1 }
    }

    /// Lets the next SIGTERM or SIGINT end the process at once, for an operator who does not want to wait.
    package func endAtNextSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_DFL)
            sigaddset(&signals, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Raises the limit of descriptors as far as allowed: a connection takes one, and the usual soft limit is 1024.
    ///
    /// - Returns: the number of descriptors that the process may have.
    package static func raiseDescriptorLimit() -> Int {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return 1024 }
        limit.rlim_cur = limit.rlim_max
        setrlimit(kind, &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
