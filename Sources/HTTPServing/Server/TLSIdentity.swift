internal import EventLoops
internal import Threading

/// The TLS context of the moment. Connections that are open keep the one that they were made with.
final class TLSIdentity: Sendable {
    private let lock = Lock()
    private nonisolated(unsafe) var context: TLSServer?

    init(_ context: TLSServer?) { self.context = context }

    var current: TLSServer? { lock.withLock { context } }

    func replace(_ context: TLSServer?) { lock.withLock { self.context = context } }
}
