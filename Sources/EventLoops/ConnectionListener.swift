internal import CLibEvent
internal import Glibc

/// Accepts connections on a listening socket, which it closes with its own end, and also if it cannot be made.
///
/// The listener belongs to its loop's thread.
package final class ConnectionListener {
    private let accepted: (_ socket: Int32, _ peer: String) -> Void
    private let paused: () -> Void
    private var listener: OpaquePointer?

    /// - Parameters:
    ///   - socket: a socket that listens and does not block.
    ///   - accepted: called with each connection's socket, which does not block, and the address of its client, which is
    ///     empty for a Unix socket.
    ///   - paused: called when no further connection could be accepted, as a rule because the process has no descriptors
    ///     left. Nothing is accepted then until ``resume()``.
    package init(
        _ socket: Int32, on loop: EventLoop, accepted: @escaping (_ socket: Int32, _ peer: String) -> Void,
        paused: @escaping () -> Void
    ) throws(EventLoopError) {
        (self.accepted, self.paused) = (accepted, paused)
        // The pointer is unretained: the listener is freed with this object at the latest.
        let owner = Unmanaged.passUnretained(self).toOpaque()
        // The socket listens already, which a backlog of 0 tells libevent.
        listener = evconnlistener_new(
            loop.base, Self.happened, owner, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, socket)
        guard let listener else {
            close(socket)
            throw EventLoopError()
        }
        evconnlistener_set_error_cb(listener) { listener, owner in
            evconnlistener_disable(listener)
            guard let owner else { return }
            Unmanaged<ConnectionListener>.fromOpaque(owner).takeUnretainedValue().paused()
        }
    }

    deinit {
        if let listener { evconnlistener_free(listener) }
    }

    /// Accepts connections again after a pause, if there was one.
    package func resume() { evconnlistener_enable(listener) }

    private static let happened: evconnlistener_cb = { _, socket, address, length, owner in
        guard let owner, let address else { return }
        let isInternet = address.pointee.sa_family != sa_family_t(AF_UNIX)
        // Small answers are sent at once.
        var on: Int32 = 1
        if isInternet { setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size)) }
        let listener = Unmanaged<ConnectionListener>.fromOpaque(owner).takeUnretainedValue()
        listener.accepted(socket, isInternet ? text(of: address, socklen_t(length)) : "")
    }

    private static func text(of address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { host in
            guard let start = host.baseAddress,
                getnameinfo(address, length, start, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0
            else { return "" }
            return String(cString: start)
        }
    }
}
