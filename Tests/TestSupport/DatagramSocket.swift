import Glibc

/// A socket that takes what others send to its path.
package final class DatagramSocket {
    private let socket: Int32

    package init(path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else { throw Program.Failure(description: "cannot bind \(path): errno \(errno)") }
        var patience = timeval(tv_sec: Int(Program.patience.components.seconds), tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// A UDP socket of the loopback, which takes what others send to it.
    package init(at address: String, port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        (place.sin_family, place.sin_port) = (sa_family_t(AF_INET), in_port_t(UInt16(port)).bigEndian)
        inet_pton(AF_INET, address, &place.sin_addr)
        let isBound = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { throw Program.Failure(description: "cannot bind \(address): errno \(errno)") }
    }

    deinit { close(socket) }

    /// The next message; `nil` where none comes in half a minute.
    package func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
