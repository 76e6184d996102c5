internal import CLibEvent
internal import Glibc

/// Wakes an event loop from another thread, or from a signal handler.
///
/// `@unchecked Sendable`: only `wake()` may be called off the loop's thread, and it only writes to a descriptor.
package final class LoopWaker: @unchecked Sendable {
    private let descriptor: Int32
    private let action: () -> Void
    private var event: OpaquePointer?

    /// - Parameter action: called on the loop's thread, once for all `wake()` calls since the loop last called it.
    package init(_ loop: EventLoop, _ action: @escaping () -> Void) throws(EventLoop.Failure) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        self.action = action
        guard descriptor >= 0 else { throw EventLoop.Failure() }
        // The pointer is unretained: the event is freed with this object at the latest.
        event = event_new(
            loop.base, descriptor, Int16(EV_READ | EV_PERSIST),
            { descriptor, _, waker in
                var count: UInt64 = 0
                read(descriptor, &count, MemoryLayout<UInt64>.size)
                guard let waker else { return }
                Unmanaged<LoopWaker>.fromOpaque(waker).takeUnretainedValue().action()
            }, Unmanaged.passUnretained(self).toOpaque())
        event_add(event, nil)
    }

    deinit {
        if let event { event_free(event) }
        if descriptor >= 0 { close(descriptor) }
    }

    package func wake() {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
