import Glibc
import TestSupport

/// A listening socket whose backlog is full, so that the kernel leaves new connections without an answer.
final class SilentListener {
    private var sockets: [Int32] = []

    init(at address: String, port: Int) throws {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &place.sin_addr)
        try withUnsafePointer(to: &place) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                let length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                sockets.append(listener)
                guard bind(listener, place, length) == 0, listen(listener, 0) == 0 else {
                    throw Program.Failure(description: "cannot listen at \(address): \(errno)")
                }
                for _ in 1...3 {
                    let client = socket(
                        AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
                    sockets.append(client)
                    connect(client, place, length)
                }
            }
        }
    }

    deinit {
        for socket in sockets { close(socket) }
    }
}
