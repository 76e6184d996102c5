internal import Basics
internal import Glibc
internal import Synchronization

/// Runs the same work on several threads.
package enum Workers {
    /// The error if a thread could not be started.
    package struct ThreadError: Error, CustomStringConvertible {
        package var description: String { "the process may have no more threads" }
    }

    /// Runs `work` once on each of `count` threads, and returns the results in order.
    ///
    /// - Parameter progress: Called some fifty times per second on the caller's thread, and once at the end.
    /// - Throws: The errors of `work`, and ``ThreadError``.
    package static func run<Made: Sendable>(
        _ count: Int, progress: () -> Void = {}, _ work: @escaping @Sendable (Int) throws -> Made
    ) throws -> [Made] {
        let slots = (0..<count).map { _ in Slot<Made>() }
        let threads = slots.enumerated().map { index, slot in
            ServiceThread { slot.finish(Result { try work(index) }) }
        }
        while !zip(threads, slots).allSatisfy({ $0 == nil || $1.isDone }) {
            progress()
            usleep(20_000)
        }
        for thread in threads { thread?.join() }
        progress()
        guard !threads.contains(where: { $0 == nil }) else { throw ThreadError() }
        return try slots.compactMap { try $0.result?.get() }
    }

    /// The result of one thread. `@unchecked Sendable`: that thread writes the result once, before it sets `done`.
    private final class Slot<Made: Sendable>: @unchecked Sendable {
        private let done = Atomic<Bool>(false)
        private(set) var result: Result<Made, any Error>?

        var isDone: Bool { done.load(ordering: .acquiring) }

        func finish(_ result: Result<Made, any Error>) {
            self.result = result
            done.store(true, ordering: .releasing)
        }
    }
}
