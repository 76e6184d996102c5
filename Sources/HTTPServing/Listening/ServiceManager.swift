internal import Glibc
internal import Threading

/// The service manager that has started this process, if one has: systemd's protocols for sockets (sd_listen_fds) and for
/// readiness (sd_notify), both promised to stay as they are, by way of environment variables.
package enum ServiceManager {
    /// Tells that the service is where `state` says, such as `READY=1`. Without a manager nobody is told.
    package static func notify(_ state: String) {
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }), !path.isEmpty else { return }
        var name = Array(path.utf8)
        // A name that is no path (unix(7), abstract).
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
    static func sockets(named name: String?) throws(HTTPServer.Failure) -> [Int32] {
        let handed = inherited.take { name == nil || $0 == name }
        let wanted = name.map { "systemd:\($0)" } ?? "systemd"
        guard !handed.isEmpty else {
            throw HTTPServer.Failure(
                "cannot listen on \(wanted): no such socket was handed to this process; expected a .socket unit")
        }
        for socket in handed {
            var (isListening, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
            guard isListening == 1 else {
                throw HTTPServer.Failure(
                    "cannot listen on \(wanted): descriptor \(socket) does not listen; expected ListenStream=")
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        }
        return handed
    }

    private static let inherited = InheritedSockets()
}

/// The descriptors from 3 on that a manager has opened for this process and no other.
private final class InheritedSockets: Sendable {
    private static let first: Int32 = 3

    private let lock = Lock()
    private nonisolated(unsafe) var left: [(descriptor: Int32, name: String)] = []

    init() {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
        guard Int32(variable("LISTEN_PID")) == getpid(), let count = Int(variable("LISTEN_FDS")), count > 0,
            count < 4096
        else { return }
        let names = variable("LISTEN_FDNAMES").split(separator: ":", omittingEmptySubsequences: false)
        left = (0..<count).map { number in
            (Self.first + Int32(number), number < names.count ? String(names[number]) : "")
        }
    }

    func take(_ isWanted: (String) -> Bool) -> [Int32] {
        lock.withLock {
            defer { left.removeAll { isWanted($0.name) } }
            return left.filter { isWanted($0.name) }.map(\.descriptor)
        }
    }
}
