internal import Glibc

/// A socket that listens, for as long as its owner: the server.
///
/// On an internet address each worker has a socket of its own (SO_REUSEPORT), and the kernel spreads connections over
/// them. No other process can join: it would answer some of the connections, and by another store. All other sockets
/// are shared by the workers.
final class ListeningSocket: Sendable {
    let listener: HTTPListener
    /// One for each worker. A worker closes its own.
    let descriptors: [Int32]
    /// Whether other processes may serve the clients that connect to this socket, which is true of systemd's sockets.
    var isShared: Bool { if case .systemd = listener.socket { true } else { false } }
    /// The file of a Unix socket, which the server deletes when it stops; `nil` for other sockets.
    private let file: SocketFile?

    private init(_ listener: HTTPListener, _ descriptors: [Int32], file: SocketFile? = nil) {
        (self.listener, self.descriptors, self.file) = (listener, descriptors, file)
    }

    /// Deletes the Unix socket's file. Open connections go on.
    func withdraw() {
        file?.remove()
    }

    /// Closes all descriptors, if no worker has taken them over.
    func close() {
        withdraw()
        for descriptor in descriptors { Glibc.close(descriptor) }
    }

    /// The address that the socket is bound to; the configured listener if the socket has no internet address.
    var bound: HTTPListener { Self.bound(descriptors[0], listener) }

    private static func bound(_ socket: Int32, _ listener: HTTPListener) -> HTTPListener {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(socket, address, &length) == 0
                    ? getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) : EAI_SYSTEM
            }
        }
        let isInternet = address.sin6_family == sa_family_t(AF_INET) || address.sin6_family == sa_family_t(AF_INET6)
        guard code == 0, isInternet else { return listener }
        // The port lies at the same place in the addresses of both families.
        let port = UInt16(bigEndian: address.sin6_port)
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return HTTPListener(.tcp(host: text, port: port), isTLS: listener.isTLS)
    }

    /// The addresses that `listeners` stand for. This takes systemd's sockets from the environment, so a process that
    /// calls it must not serve.
    static func places(of listeners: [HTTPListener]) -> [HTTPListener] {
        listeners.flatMap { listener in
            guard case .systemd(let name) = listener.socket else { return [listener] }
            return ((try? ServiceManager.sockets(named: name)) ?? []).map { bound($0, listener) }
        }
    }

    /// Listens where `listener` says: at several places where systemd has opened several sockets.
    static func open(
        _ listener: HTTPListener, workers: Int, unixMode: mode_t
    ) throws(HTTPServerError) -> [ListeningSocket] {
        switch listener.socket {
        case .tcp(let host, let port): [try open(listener, host, port, workers)]
        case .unix(let path): [try open(listener, path, unixMode, workers)]
        case .systemd(let name):
            try ServiceManager.sockets(named: name).map { (socket) throws(HTTPServerError) in
                ListeningSocket(listener, try shares(of: socket, workers, listener))
            }
        }
    }

    private static let backlog: Int32 = 4096

    private static func open(
        _ listener: HTTPListener, _ host: String, _ port: UInt16, _ workers: Int
    ) throws(HTTPServerError) -> ListeningSocket {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let found else {
            throw HTTPServerError(
                "cannot listen on \(listener): \(String(cString: gai_strerror(code))); expected an address")
        }
        defer { freeaddrinfo(found) }
        var sockets: [Int32] = []
        do {
            // The first socket is bound without SO_REUSEPORT, so that it fails if another process listens there. The
            // server's other sockets may join it afterwards.
            sockets.append(try bind(found.pointee.ai_addr, found.pointee.ai_addrlen, listener, isShared: false))
            share(sockets[0])
            // The others take the address of the first one, because port 0 would be a different port for each.
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            try withUnsafeMutablePointer(to: &address) { pointer throws(HTTPServerError) in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(HTTPServerError) in
                    getsockname(sockets[0], address, &length)
                    for _ in 1..<max(1, workers) { sockets.append(try bind(address, length, listener, isShared: true)) }
                }
            }
        } catch {
            for socket in sockets { Glibc.close(socket) }
            throw error
        }
        return ListeningSocket(listener, sockets)
    }

    private static func open(
        _ listener: HTTPListener, _ path: String, _ mode: mode_t, _ workers: Int
    ) throws(HTTPServerError) -> ListeningSocket {
        guard let address = sockaddr_un(name: Array(path.utf8)) else {
            throw HTTPServerError(
                "cannot listen on \(listener): the path is longer than \(sockaddr_un.longestName) bytes")
        }
        let socket = try withUnsafePointer(to: address) { pointer throws(HTTPServerError) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(HTTPServerError) in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                try removeLeftOver(path, address, length, listener)
                return try bind(address, length, listener, isShared: false, mode: (path, mode))
            }
        }
        do {
            let descriptors = try shares(of: socket, workers, listener)
            return ListeningSocket(listener, descriptors, file: SocketFile(path: path))
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Removes the socket file of a server that was killed, and no file of another kind.
    ///
    /// - Throws: if a process listens there.
    private static func removeLeftOver(
        _ path: String, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ listener: HTTPListener
    ) throws(HTTPServerError) {
        var status = Glibc.stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { if probe >= 0 { Glibc.close(probe) } }
        guard probe >= 0, connect(probe, address, length) != 0, errno == ECONNREFUSED else {
            throw HTTPServerError("cannot listen on \(listener): another process does")
        }
        unlink(path)
    }

    private static func bind(
        _ address: UnsafePointer<sockaddr>?, _ length: socklen_t, _ listener: HTTPListener, isShared: Bool,
        mode: (path: String, mode_t)? = nil
    ) throws(HTTPServerError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let family = address.map { Int32($0.pointee.sa_family) } ?? AF_UNSPEC
        let socket = Glibc.socket(family, kind, 0)
        var on: Int32 = 1
        if socket >= 0, family != AF_UNIX {
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            if isShared { share(socket) }
        }
        // Nobody can connect before it listens, so its mode is set in time.
        guard socket >= 0, Glibc.bind(socket, address, length) == 0, mode.map({ chmod($0.path, $0.1) }) ?? 0 == 0,
            listen(socket, backlog) == 0
        else {
            let reason = String(cString: strerror(errno))
            if socket >= 0 { Glibc.close(socket) }
            throw HTTPServerError("cannot listen on \(listener): \(reason)")
        }
        return socket
    }

    /// Lets other sockets of this user be bound to the same address, if they set this option too.
    private static func share(_ socket: Int32) {
        var on: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// `socket` itself and its duplicates, one for each worker.
    private static func shares(
        of socket: Int32, _ workers: Int, _ listener: HTTPListener
    ) throws(HTTPServerError) -> [Int32] {
        let shares = [socket] + (1..<max(1, workers)).map { _ in fcntl(socket, F_DUPFD_CLOEXEC, 0) }
        guard shares.allSatisfy({ $0 >= 0 }) else {
            let reason = String(cString: strerror(errno))
            for share in shares where share >= 0 { Glibc.close(share) }
            throw HTTPServerError("cannot listen on \(listener): \(reason)")
        }
        return shares
    }
}

/// The file of a Unix socket that this process has made.
private struct SocketFile {
    private let path: String
    private let identity: (device: dev_t, file: ino_t)?

    init(path: String) {
        self.path = path
        identity = Self.identity(of: path)
    }

    /// Deletes the file, unless another one lies at its path now.
    func remove() {
        if let identity, let found = Self.identity(of: path), found == identity { unlink(path) }
    }

    private static func identity(of path: String) -> (device: dev_t, file: ino_t)? {
        var status = Glibc.stat()
        return lstat(path, &status) == 0 ? (status.st_dev, status.st_ino) : nil
    }
}

extension sockaddr_un {
    /// Bytes of a path, with room for the zero behind it (unix(7)).
    static let longestName = MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size - 1

    /// - Parameter name: a path, or an abstract name; `nil` results from one that is too long.
    init?(name: [UInt8]) {
        guard name.count <= Self.longestName else { return nil }
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &sun_path) { $0.copyBytes(from: name) }
    }
}
