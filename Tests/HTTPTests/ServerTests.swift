import Basics
import EventLoops
import Foundation
import Glibc
import HTTP
import TestSupport
import Testing

@Suite("The server")
struct ServerTests {
    /// A server that answers each request with its body after 100 ms.
    private static func slowServer(_ limits: HTTPLimits = HTTPLimits()) throws -> (server: HTTPServer, port: Int) {
        let listener = try #require(HTTPListener("127.0.0.1:0"))
        let server = try HTTPServer([listener], workers: 1, limits: limits) { loop in
            var timers: [Int: LoopTimer] = [:]
            return HTTPHandler(handle: { exchanges in
                for exchange in exchanges {
                    let number = timers.count
                    timers[number] = loop.timer(afterMilliseconds: 100) {
                        exchange.answer(HTTPAnswer(200, type: "text/plain", body: Array(exchange.request.body)))
                    }
                }
            })
        }
        guard case .tcp(_, let port) = server.listeners[0].socket else {
            throw Program.Failure(description: "no port")
        }
        return (server, Int(port))
    }

    @Test("a request that came while the one before was answered may still wait for 100 Continue")
    func pipelinedContinue() throws {
        let (server, port) = try Self.slowServer()
        defer { server.stop(withinMilliseconds: 1000) }
        let connection = try RawConnection(port: port)
        connection.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        // The server reads this, and stops to read, while it answers.
        usleep(30_000)
        connection.send("POST /b HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        #expect(connection.answer()?.status == 200)
        #expect(connection.answer()?.status == 100)
        connection.send("hello")
        let answer = connection.answer()
        #expect(answer?.status == 200 && answer?.headers.contains("Content-Length: 5") == true)
    }

    @Test(
        "a server that stops answers one more request on each connection, and does not wait for those that are closed")
    func parting() throws {
        var limits = HTTPLimits()
        limits.partingMilliseconds = 600_000
        let (server, port) = try Self.slowServer(limits)
        var connections = try (0..<3).map { _ in try RawConnection(port: port) }
        let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
        for connection in connections[..<2] {
            connection.send(request)
            #expect(connection.answer()?.headers.contains("Connection: close") == false)
        }
        connections[1].send(String(request.prefix(20)))
        let probe = try RawConnection(port: port)
        probe.send(request)
        _ = probe.answer()
        let stop = Thread { server.stop(withinMilliseconds: 600_000) }
        stop.start()
        var isLast = false
        while !isLast {
            probe.send(request)
            isLast = try #require(probe.answer()).headers.contains("Connection: close")
        }
        for (connection, part) in zip(connections, [request, String(request.dropFirst(20)), request]) {
            connection.send(part)
            let answer = connection.answer()
            #expect(answer?.status == 200 && answer?.headers.contains("Connection: close") == true)
        }
        connections = []
        #expect(Program.wait { stop.isFinished })
    }

    @Test("a listener accepts all that have connected before it is closed, and lets nobody begin to connect")
    func closing() throws {
        let socket = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let port = try FreePort.take(1)[0]
        try #require(loopback(port) { bind(socket, $0, $1) } == 0 && listen(socket, 16) == 0)
        var accepted: [Int32] = []
        let listener = try ConnectionListener(
            socket, on: EventLoop(), accepted: { socket, _ in accepted.append(socket) }, paused: {})
        let clients = try (0..<3).map { _ in try RawConnection(port: port) }
        listener.dropNewcomers()
        let newcomer = Glibc.socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { for socket in accepted + [newcomer] { close(socket) } }
        #expect(loopback(port) { connect(newcomer, $0, $1) } == -1 && errno == EINPROGRESS)
        listener.acceptWaiting()
        #expect(accepted.count == 3)
        var state = pollfd(fd: newcomer, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&state, 1, 50) == 0)
        withExtendedLifetime(clients) {}
    }
}
