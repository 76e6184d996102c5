internal import Basics
internal import CLibEvent
internal import Glibc

/// No event loop, or nothing that belongs to one, could be created; usually because the process has no file descriptors
/// left.
package struct EventLoopError: Error {}

/// An event loop that waits for sockets and timers and runs their callbacks: libevent's event base.
///
/// The loop belongs to one thread at a time, and so does everything that is attached to it.
package final class EventLoop {
    /// libevent's `event_base`, for libraries that attach themselves to it.
    package let base: OpaquePointer

    /// - Parameter hasPreciseTimers: whether timers have microsecond resolution, which costs a system call for each;
    ///   otherwise a timer of one millisecond may take two.
    package init(hasPreciseTimers: Bool = false) throws(EventLoopError) {
        guard let settings = event_config_new() else { throw EventLoopError() }
        defer { event_config_free(settings) }
        event_config_set_flag(settings, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        if hasPreciseTimers { event_config_set_flag(settings, Int32(EVENT_BASE_FLAG_PRECISE_TIMER.rawValue)) }
        let base = Self.creation.withLock { _ in Self.hasDescriptorsLeft ? event_base_new_with_config(settings) : nil }
        guard let base else { throw EventLoopError() }
        self.base = base
    }

    /// Held from the look at the descriptors to the end of a loop's creation; otherwise a loop of another thread could
    /// take those that were seen.
    private static let creation = Guarded(())

    deinit {
        event_base_free(base)
    }

    /// Whether the descriptors that a loop needs (an epoll and a pair of sockets) are available. libevent ends the
    /// process if it cannot get them.
    private static var hasDescriptorsLeft: Bool {
        let probes = (0..<4).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
        for probe in probes where probe >= 0 { close(probe) }
        return probes.allSatisfy { $0 >= 0 }
    }

    /// Calls `begin`, and then waits for events and handles them until `isDone` returns true, all with SIGPIPE blocked.
    /// The loop ends early if no event or timer is attached.
    package func run(beginning begin: () -> Void = {}, until isDone: () -> Bool) {
        withPipeSignalBlocked {
            begin()
            while !isDone(), event_base_loop(base, EVLOOP_ONCE) == 0 {}
        }
    }

    /// Runs one event-loop iteration: handles everything that has happened. The thread must have SIGPIPE blocked, as a
    /// `ServiceThread` has.
    ///
    /// - Parameter waits: Whether the loop waits until something has happened.
    package func turn(waits: Bool = true) {
        event_base_loop(base, waits ? EVLOOP_ONCE : EVLOOP_NONBLOCK)
    }

    /// Ends the event-loop iteration after the callback that is running. Other pending events are left to the next
    /// iteration.
    package func endTurn() {
        event_base_loopbreak(base)
    }

    /// Handles the events that have already happened, without waiting.
    package func runPending() {
        withPipeSignalBlocked { _ = event_base_loop(base, EVLOOP_NONBLOCK) }
    }

    /// Calls `body` with SIGPIPE blocked on the calling thread, which may be any thread of a process that uses the
    /// library: a write to a connection that its peer has closed then fails, and does not end the process.
    private func withPipeSignalBlocked(_ body: () -> Void) {
        var (pipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        body()
        guard sigismember(&before, SIGPIPE) == 0 else { return }
        // A signal that such a write has raised would be delivered once it is no longer blocked.
        var noTime = timespec()
        sigtimedwait(&pipe, nil, &noTime)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Calls `action` once, after `milliseconds`, unless the timer is released before.
    package func timer(afterMilliseconds milliseconds: Int, _ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(self, microseconds: milliseconds * 1000, action)
    }

    /// Calls `action` once, after `microseconds`, unless the timer is released before; meant for a loop with precise
    /// timers (``init(hasPreciseTimers:)``).
    package func timer(afterMicroseconds microseconds: Int, _ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(self, microseconds: microseconds, action)
    }
}

/// A pending call of an action. Releasing the timer cancels it.
package final class LoopTimer {
    private let loop: EventLoop
    private let action: () -> Void
    private var event: OpaquePointer?

    fileprivate init(_ loop: EventLoop, microseconds: Int, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
        // The pointer is unretained: the event is freed with this object at the latest.
        event = event_new(
            loop.base, -1, 0,
            { _, _, timer in
                guard let timer else { return }
                // The timer is held while the action runs, since the action may release it.
                let held = Unmanaged<LoopTimer>.fromOpaque(timer).takeUnretainedValue()
                withExtendedLifetime(held) { held.action() }
            }, Unmanaged.passUnretained(self).toOpaque())
        var delay = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        event_add(event, &delay)
    }

    deinit {
        if let event { event_free(event) }
    }
}
