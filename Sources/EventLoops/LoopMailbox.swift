internal import Basics

/// Hands values from other threads to an event loop.
///
/// The mailbox belongs to its loop's thread.
package final class LoopMailbox<Value: Sendable> {
    /// The end that other threads have. It may outlive the loop, and values are dropped then.
    package final class Slot: Sendable {
        private let values = Guarded<[Value]>([])
        private let signal: LoopWaker.Signal

        fileprivate init(_ signal: LoopWaker.Signal) { self.signal = signal }

        /// Puts a value in, which the loop takes in its next iteration.
        package func put(_ value: Value) {
            let isFirst = values.withLock { values in
                values.append(value)
                return values.count == 1
            }
            if isFirst { signal.wake() }
        }

        fileprivate func takeAll() -> [Value] {
            values.withLock { values in
                defer { values = [] }
                return values
            }
        }
    }

    package let slot: Slot
    private let waker: LoopWaker

    /// - Parameter received: Called on the loop's thread with each value, in the order in which they were put in.
    package init(_ loop: EventLoop, _ received: @escaping (Value) -> Void) throws(EventLoopError) {
        var slot: Slot?
        waker = try LoopWaker(loop) { for value in slot?.takeAll() ?? [] { received(value) } }
        self.slot = Slot(waker.signal)
        slot = self.slot
    }
}
