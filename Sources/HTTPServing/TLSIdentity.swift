internal import Threading

/// The TLS context of the moment. Connections that are open keep the one that they were made with.
final class TLSIdentity: Sendable {
    private let lock = Lock()
    private nonisolated(unsafe) var context: TLSContext?

    init(_ context: TLSContext?) { self.context = context }

    var current: TLSContext? { lock.withLock { context } }

    func replace(_ context: TLSContext?) { lock.withLock { self.context = context } }
}
