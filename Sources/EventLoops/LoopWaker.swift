internal import CLibEvent
internal import Glibc

/// Wakes an event loop from another thread, or from a signal handler, by its ``signal``.
///
/// The waker belongs to its loop's thread.
package final class LoopWaker {
    /// What other threads may hold, also longer than the loop lives.
    package final class Signal: Sendable {
        fileprivate let descriptor: Int32

        fileprivate init() throws(EventLoopError) {
            descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard descriptor >= 0 else { throw EventLoopError() }
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
        }

        /// Wakes the loop, if it is still there.
        package func wake() {
            var one: UInt64 = 1
            write(descriptor, &one, MemoryLayout<UInt64>.size)
        }
    }

    package let signal: Signal
    private let action: () -> Void
    private var event: OpaquePointer?

    /// - Parameter action: called on the loop's thread, once for all ``Signal/wake()`` calls since the loop last called
    ///   it.
    package init(_ loop: EventLoop, _ action: @escaping () -> Void) throws(EventLoopError) {
        signal = try Signal()
        self.action = action
        // The pointer is unretained: the event is freed with this object at the latest.
        event = event_new(
            loop.base, signal.descriptor, Int16(EV_READ | EV_PERSIST),
            { descriptor, _, waker in
                var count: UInt64 = 0
                read(descriptor, &count, MemoryLayout<UInt64>.size)
                guard let waker else { return }
                // The waker is held while the action runs, since the action may release it.
                let held = Unmanaged<LoopWaker>.fromOpaque(waker).takeUnretainedValue()
                withExtendedLifetime(held) { held.action() }
            }, Unmanaged.passUnretained(self).toOpaque())
        event_add(event, nil)
    }

    deinit {
        if let event { event_free(event) }
    }
}
