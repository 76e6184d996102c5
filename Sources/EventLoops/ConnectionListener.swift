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
    ///   - accepted: called with each connection's socket, which does not block, and the address of its client, which
    ///     is empty for a Unix socket.
    ///   - paused: called when no further connection could be accepted, as a rule because the process has no
    ///     descriptors left. Nothing is accepted then until ``resume()``.
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

    /// Has the kernel drop the packet with which a client begins to connect to this TCP socket; connections that have
    /// begun go on. The client's kernel sends that packet again, after a second as a rule, and is refused if the socket
    /// is closed.
    package func dropNewcomers() {
        // Byte 13 of TCP's header has the flags: SYN (2) without ACK (16).
        var rules = [
            sock_filter(code: UInt16(BPF_LD | BPF_B | BPF_ABS), jt: 0, jf: 0, k: 13),
            sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: 2 + 16),
            sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: 0, jf: 1, k: 2),
            sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: 0),
            sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: .max),
        ]
        rules.withUnsafeMutableBufferPointer { rules in
            var program = sock_fprog(len: UInt16(rules.count), filter: rules.baseAddress)
            let size = socklen_t(MemoryLayout<sock_fprog>.size)
            setsockopt(evconnlistener_get_fd(listener), SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
        }
    }

    /// Accepts every client that has connected. The kernel would reset the connections that a socket has not accepted
    /// when it is closed, with the requests on them.
    package func acceptWaiting() {
        while true {
            var (address, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
            let isAccepted = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    let socket = accept(evconnlistener_get_fd(listener), address, &length)
                    guard socket >= 0 else { return false }
                    evutil_make_socket_nonblocking(socket)
                    evutil_make_socket_closeonexec(socket)
                    take(socket, address, length)
                    return true
                }
            }
            guard isAccepted else { return }
        }
    }

    private static let happened: evconnlistener_cb = { _, socket, address, length, owner in
        guard let owner, let address else { return }
        Unmanaged<ConnectionListener>.fromOpaque(owner).takeUnretainedValue().take(socket, address, socklen_t(length))
    }

    private func take(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        let isInternet = address.pointee.sa_family != sa_family_t(AF_UNIX)
        // Small answers are sent at once.
        var on: Int32 = 1
        if isInternet { setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size)) }
        accepted(socket, isInternet ? Self.text(of: address, length) : "")
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
