import Glibc
import TestSupport

/// A port of the loopback whose connections the test answers itself.
final class Listener {
    private let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let port: UInt16

    init() throws {
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 8) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw Program.Failure(description: "no port: errno \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        var patience = timeval(tv_sec: Int(Program.patience.components.seconds), tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// The next connection; fails if none comes.
    func accept() throws -> Int32 {
        let connection = Glibc.accept(socket, nil, nil)
        guard connection >= 0 else { throw Program.Failure(description: "no connection: errno \(errno)") }
        return connection
    }

    static func write(_ text: String, to connection: Int32) throws {
        let count = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
        guard count == text.utf8.count else { throw Program.Failure(description: "not written: errno \(errno)") }
    }

    /// A connection to a port of the loopback.
    static func connect(to port: Int) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        address.sin_port = in_port_t(port).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Program.Failure(description: "not connected: errno \(errno)") }
        return socket
    }
}
