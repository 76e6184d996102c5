import EventLoops
import Glibc
import HTTP
import TestSupport
import Testing

@Suite("The client")
struct ClientTests {
    @Test("a request that cannot be sent is completed once, and not within send, even if nobody keeps the client")
    func unsent() throws {
        let loop = try EventLoop()
        var answers: [Int?] = []
        var client: HTTPClient? = HTTPClient(loop, address: ":::", port: 1)
        client?.send("/") {
            answers.append($0?.status)
            client = nil
        }
        #expect(answers.isEmpty)
        loop.run { !answers.isEmpty }
        #expect(answers == [nil] && client == nil)
    }

    @Test("a host is found by its name, and one that has no address is none")
    func names() throws {
        let server = try AnsweringServer("127.0.0.1:0")
        for (name, status) in [("localhost", 204), ("nowhere.invalid", nil), ("localhost", 204)] {
            let client = HTTPClient(try EventLoop(), address: name, port: server.ports[0])
            #expect(client.ask("/")?.status == status, "\(name)")
        }
    }

    @Test("bytes that come after an answer are not part of the next one")
    func surplus() throws {
        let server = try Listener()
        let loop = try EventLoop()
        let client = HTTPClient(loop, port: server.port)
        for body in ["1", "2"] {
            var answer: HTTPClient.Answer?
            client.send("/") { answer = $0 }
            let connection = try server.accept()
            defer { close(connection) }
            loop.turn()
            try Listener.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(body)", to: connection)
            loop.run { answer != nil }
            #expect(answer?.body == Array(body.utf8))
            try Listener.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", to: connection)
            loop.turn()
        }
    }

    @Test("a body is read up to the limit, and header names have no case")
    func limit() throws {
        let server = try AnsweringServer("127.0.0.1:0") {
            var answer = HTTPAnswer(200, type: "text/plain", body: [UInt8](repeating: 0x78, count: 100))
            answer.add("x-lower", "1")
            answer.add("X-Lower", "2")
            return answer
        }
        let loop = try EventLoop()
        let answer = try #require(HTTPClient(loop, port: server.ports[0], bodyLimit: 100).ask("/"))
        #expect(answer.body.count == 100 && answer.values(of: "X-LOWER") == ["1", "2"])
        #expect(HTTPClient(loop, port: server.ports[0], bodyLimit: 99).ask("/") == nil)
    }
}
