import EventLoops
import Glibc
import HTTPMessages
import HTTPServing
import TestSupport
import Testing
import TextEncodings

@Suite("The server")
struct ServerTests {
    /// A server that answers each request with its body after 100 ms.
    private static func slowServer() throws -> (server: HTTPServer, port: Int) {
        let listener = try #require(HTTPListener("127.0.0.1:0"))
        let server = try HTTPServer([listener], workers: 1) { loop in
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
        guard case .tcp(_, let port) = server.listeners[0].place else {
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
}
