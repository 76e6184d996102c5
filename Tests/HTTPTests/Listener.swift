import EventLoops
import Glibc
import HTTP
import TestSupport

/// A port of the loopback whose connections the test answers itself.
final class Listener {
    private let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let port: UInt16

    init() throws {
        port = UInt16(try FreePort.take(1)[0])
        guard loopback(Int(port), { bind(socket, $0, $1) }) == 0, listen(socket, 8) == 0 else {
            throw Program.Failure(description: "no port: errno \(errno)")
        }
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
        guard loopback(port, { Glibc.connect(socket, $0, $1) }) == 0 else {
            throw Program.Failure(description: "not connected: errno \(errno)")
        }
        return socket
    }
}

/// A server with one worker, which gives each request the same answer, until the object goes.
final class AnsweringServer {
    let server: HTTPServer
    /// The ports of its listeners.
    let ports: [UInt16]

    init(
        _ places: String..., tls: TLSServer? = nil, answer: @escaping @Sendable () -> HTTPAnswer = { HTTPAnswer(204) }
    ) throws {
        server = try HTTPServer(places.compactMap { HTTPListener($0) }, workers: 1, tls: tls) { _ in
            HTTPHandler { exchanges in for exchange in exchanges { exchange.answer(answer()) } }
        }
        ports = server.listeners.compactMap { if case .tcp(_, let port) = $0.socket { port } else { nil } }
    }

    deinit { server.stop(withinMilliseconds: 1000) }
}
