internal import Basics
internal import Glibc

/// The service manager that has started this process, if one has.
///
/// It speaks systemd's protocols for sockets (sd_listen_fds(3)) and for readiness (sd_notify(3)) through environment
/// variables. systemd promises that neither protocol changes.
package enum ServiceManager {
    /// Tells that the service is where `state` says, such as `READY=1`. Without a manager nobody is told.
    package static func notify(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), !path.isEmpty else { return }
        var name = Array(path.utf8)
        // An abstract name begins with a zero byte (unix(7)).
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        guard let address = sockaddr_un(name: name) else { return }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let message = Array(state.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(socket, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    /// Microseconds on the clock that systemd goes by (CLOCK_MONOTONIC), which it wants to know with `RELOADING=1`.
    package static var monotonicMicroseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    /// The sockets that were opened for this process, each handed out once: those of `name`, or all that are left.
    static func sockets(named name: String?) throws(HTTPServerError) -> [Int32] {
        let handed = inherited.withLock { left in
            let wanted = left.filter { name == nil || $0.name == name }
            left.removeAll { name == nil || $0.name == name }
            return wanted.map(\.descriptor)
        }
        let wanted = name.map { "systemd:\($0)" } ?? "systemd"
        guard !handed.isEmpty else {
            throw HTTPServerError(
                "cannot listen on \(wanted): no such socket was handed to this process; expected a .socket unit")
        }
        for socket in handed {
            var (isListening, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
            guard isListening == 1 else {
                throw HTTPServerError(
                    "cannot listen on \(wanted): descriptor \(socket) does not listen; expected ListenStream=")
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        }
        return handed
    }

    /// The descriptors that a service manager has opened for this process, from 3 on, and that nobody has taken yet.
    private static let inherited = Guarded<[(descriptor: Int32, name: String)]>(inheritedSockets())

    private static func inheritedSockets() -> [(descriptor: Int32, name: String)] {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
        guard Int32(variable("LISTEN_PID")) == getpid(), let count = Int(variable("LISTEN_FDS")), count > 0,
            count < 4096
        else { return [] }
        let names = variable("LISTEN_FDNAMES").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<count).map { (3 + Int32($0), $0 < names.count ? String(names[$0]) : "") }
    }
}
