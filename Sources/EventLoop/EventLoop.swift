internal import CLibEvent
internal import Glibc

/// A loop that waits for sockets and timers, and calls who asked for them: libevent's event base.
///
/// It belongs to one thread at a time, and so does everything that is attached to it.
package final class EventLoop {
    /// No loop could be made: the process has no file descriptors left, as a rule.
    package struct Failure: Error {}

    /// libevent's `event_base`, for libraries that attach themselves to it.
    package let base: OpaquePointer

    /// - Parameter hasPreciseTimers: whether timers go by microseconds, at the price of a system call for each; else a
    ///   timer of a millisecond may take two.
    package init(hasPreciseTimers: Bool = false) throws(Failure) {
        guard Self.hasDescriptorsLeft, let settings = event_config_new() else { throw Failure() }
        defer { event_config_free(settings) }
        event_config_set_flag(settings, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        if hasPreciseTimers { event_config_set_flag(settings, Int32(EVENT_BASE_FLAG_PRECISE_TIMER.rawValue)) }
        guard let base = event_base_new_with_config(settings) else { throw Failure() }
        self.base = base
    }

    deinit {
        event_base_free(base)
    }

    /// libevent ends the process where it cannot have the descriptors that a loop takes (an epoll and a pair of sockets).
    private static var hasDescriptorsLeft: Bool {
        let probes = (0..<4).map { _ in socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        for probe in probes where probe >= 0 { close(probe) }
        return probes.allSatisfy { $0 >= 0 }
    }

    /// Waits for events and handles them, until `isDone`. Something must be attached that will come to pass, or it is over.
    package func run(until isDone: () -> Bool) {
        while !isDone(), event_base_loop(base, EVLOOP_ONCE) == 0 {}
    }

    /// One turn: waits until something has happened, and handles all that has.
    package func turn() {
        event_base_loop(base, EVLOOP_ONCE)
    }

    /// Ends the turn after the call that is under way. What else has happened is left to the next turn.
    package func endTurn() {
        event_base_loopbreak(base)
    }

    /// Handles what has happened already, and does not wait.
    package func runPending() {
        event_base_loop(base, EVLOOP_NONBLOCK)
    }

    /// Calls `action` once, after `milliseconds`, unless the timer is let go before.
    package func timer(afterMilliseconds milliseconds: Int, _ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(self, microseconds: milliseconds * 1000, action)
    }

    /// The same by microseconds, for a loop that ``init(hasPreciseTimers:)`` has made precise.
    package func timer(afterMicroseconds microseconds: Int, _ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(self, microseconds: microseconds, action)
    }
}

/// A call that is to come. Letting it go cancels it.
package final class LoopTimer {
    private let loop: EventLoop
    private let action: () -> Void
    private var event: OpaquePointer?

    fileprivate init(_ loop: EventLoop, microseconds: Int, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
        // Unretained: the event is freed with this object at the latest.
        event = event_new(
            loop.base, -1, 0,
            { _, _, timer in
                guard let timer else { return }
                // Held while it runs: the action may let the timer go.
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
