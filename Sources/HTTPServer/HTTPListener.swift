internal import Glibc

/// Where a server listens.
package enum HTTPListener: Sendable, Equatable, CustomStringConvertible {
    /// An address and a port; port 0 for any that is free.
    case tcp(host: String, port: UInt16)
    /// A path.
    case unix(String)

    /// Reads `HOST:PORT`, `[::1]:PORT`, `:PORT` or `unix:PATH`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:"), text.utf8.count > 5 {
            self = .unix(String(text.dropFirst(5)))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self = .tcp(host: host.isEmpty ? "0.0.0.0" : String(host), port: port)
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Sockets that listen there, one for each worker. They must be closed by whoever gets them.
    ///
    /// Of an address each worker has one of its own (SO_REUSEPORT), between which the kernel spreads connections; of a
    /// path they all share one.
    func listen(workers: Int) throws(HTTPServer.Failure) -> [Int32] {
        switch self {
        case .tcp(let host, let port): try Self.listen(host, port, workers: workers)
        case .unix(let path): try Self.listen(path, workers: workers)
        }
    }

    private static let backlog: Int32 = 4096

    private static func listen(_ host: String, _ port: UInt16, workers: Int) throws(HTTPServer.Failure) -> [Int32] {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let found else {
            throw HTTPServer.Failure(
                "cannot listen on \(host):\(port): \(String(cString: gai_strerror(code))); expected an address")
        }
        defer { freeaddrinfo(found) }
        let place = "\(HTTPListener.tcp(host: host, port: port))"
        var sockets: [Int32] = []
        do {
            sockets.append(try bind(found.pointee.ai_addr, found.pointee.ai_addrlen, found.pointee.ai_family, place))
            // The others where the first one is, since port 0 would be another for each.
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            try withUnsafeMutablePointer(to: &address) { pointer throws(HTTPServer.Failure) in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(HTTPServer.Failure) in
                    getsockname(sockets[0], address, &length)
                    for _ in 1..<max(1, workers) {
                        sockets.append(try bind(address, length, found.pointee.ai_family, place))
                    }
                }
            }
            return sockets
        } catch {
            for socket in sockets { close(socket) }
            throw error
        }
    }

    private static func listen(_ path: String, workers: Int) throws(HTTPServer.Failure) -> [Int32] {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard bytes.count <= capacity else {
            throw HTTPServer.Failure("cannot listen on unix:\(path): longer than \(capacity) bytes")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // What a gate that was killed has left behind; a file of another kind stays, and is an error.
        var status = Glibc.stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        let socket = try withUnsafePointer(to: &address) { pointer throws(HTTPServer.Failure) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(HTTPServer.Failure) in
                try bind(address, socklen_t(MemoryLayout<sockaddr_un>.size), AF_UNIX, "unix:\(path)")
            }
        }
        return [socket] + (1..<max(1, workers)).map { _ in fcntl(socket, F_DUPFD_CLOEXEC, 0) }
    }

    private static func bind(
        _ address: UnsafePointer<sockaddr>?, _ length: socklen_t, _ family: Int32, _ place: String
    ) throws(HTTPServer.Failure) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(family, kind, 0)
        var on: Int32 = 1
        if socket >= 0, family != AF_UNIX {
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        guard socket >= 0, Glibc.bind(socket, address, length) == 0, Glibc.listen(socket, backlog) == 0 else {
            let reason = String(cString: strerror(errno))
            if socket >= 0 { close(socket) }
            throw HTTPServer.Failure("cannot listen on \(place): \(reason)")
        }
        return socket
    }
}
