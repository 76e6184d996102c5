internal import Glibc
internal import Synchronization

/// Ctrl-C, for work that shows what it has when it is cut short.
enum Interruption {
    private static let requested = Atomic<Bool>(false)

    static var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// From here on the first Ctrl-C is noted; a second one ends the process.
    static func note() {
        signal(SIGINT) { number in
            Interruption.requested.store(true, ordering: .relaxed)
            signal(number, SIG_DFL)
        }
        // Whoever started us may have blocked it.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
