internal import Glibc
internal import Synchronization

/// Notes Ctrl-C, for commands that show what they have when they are interrupted.
package enum Interruption {
    private static let requested = Atomic<Bool>(false)

    package static var isRequested: Bool { requested.load(ordering: .relaxed) }

    /// Notes the first Ctrl-C after this call; a second one ends the process.
    package static func note() {
        signal(SIGINT) { number in
            Interruption.requested.store(true, ordering: .relaxed)
            signal(number, SIG_DFL)
        }
        // The process that started this one may have blocked SIGINT.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
