internal import CLibEvent

/// Tells when a socket can be read or written without waiting.
///
/// The watch belongs to its loop's thread, and must be released before the socket is closed.
package final class SocketWatch {
    private let action: (_ canWrite: Bool) -> Void
    private var reading: OpaquePointer?
    private var writing: OpaquePointer?
    /// Whether the action is called when the socket can be read, or has failed.
    package private(set) var watchesReading = false
    /// Whether the action is called when the socket can be written, or has failed.
    package private(set) var watchesWriting = false

    /// Creates a watch that watches nothing yet.
    ///
    /// - Parameter action: called in each event-loop iteration in which the socket can be read, or written
    ///   (`canWrite`).
    package init(_ loop: EventLoop, _ socket: Int32, _ action: @escaping (_ canWrite: Bool) -> Void) {
        self.action = action
        // The pointers are unretained: the events are freed with this object at the latest.
        let watch = Unmanaged.passUnretained(self).toOpaque()
        reading = event_new(loop.base, socket, Int16(EV_READ | EV_PERSIST), Self.happened, watch)
        writing = event_new(loop.base, socket, Int16(EV_WRITE | EV_PERSIST), Self.happened, watch)
    }

    deinit {
        if let reading { event_free(reading) }
        if let writing { event_free(writing) }
    }

    private static let happened: @convention(c) (Int32, Int16, UnsafeMutableRawPointer?) -> Void = { _, kind, watch in
        guard let watch else { return }
        // The action may release the watch, close the socket, and open another one, which gets the same number. So only
        // the action is held here: the events must be gone before the socket is, or libevent takes the new one for one
        // that it watches.
        let action = Unmanaged<SocketWatch>.fromOpaque(watch).takeUnretainedValue().action
        action(Int32(kind) & EV_WRITE != 0)
    }

    /// Begins or ends to watch for bytes that can be read.
    package func watchReading(_ isWanted: Bool) {
        guard isWanted != watchesReading else { return }
        watchesReading = isWanted
        _ = isWanted ? event_add(reading, nil) : event_del(reading)
    }

    /// Begins or ends to watch for room to write.
    package func watchWriting(_ isWanted: Bool) {
        guard isWanted != watchesWriting else { return }
        watchesWriting = isWanted
        _ = isWanted ? event_add(writing, nil) : event_del(writing)
    }
}
