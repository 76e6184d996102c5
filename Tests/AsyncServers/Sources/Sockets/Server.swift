import Dispatch
import Foundation

/// An HTTP server for one request per connection, enough to show how a backend uses the library.
///
/// A task waits for its socket suspended: no thread of the cooperative pool is blocked by a client.
public struct Server: Sendable {
    /// A request of a client.
    public struct Request: Sendable {
        /// The target of the request.
        public let path: String
        /// The content of the request.
        public let body: String
    }

    /// The answer to a request.
    public struct Answer: Sendable {
        let status: Int
        let body: String

        /// An answer with an HTTP status and a line of text.
        public init(_ status: Int, _ body: String) { (self.status, self.body) = (status, body) }
    }

    /// A system call that failed.
    public struct Failure: Error {
        let call: String
    }

    private let listener: Int32
    /// The port on which the server listens.
    public let port: Int

    /// Listens on a free port of the loopback.
    public init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                bind(listener, plain, length) == 0 && listen(listener, 1024) == 0
                    && getsockname(listener, plain, &length) == 0
            }
        }
        guard isListening else { throw Failure(call: "listen") }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Serves for ever, each connection in a task of its own.
    public func run(_ answer: @escaping @Sendable (Request) async -> Answer) async -> Never {
        while true {
            await Self.readable(listener)
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFL, O_NONBLOCK)
                Task {
                    defer { close(connection) }
                    guard let request = await Self.read(connection) else { return }
                    let answer = await answer(request)
                    let text =
                        "HTTP/1.1 \(answer.status) x\r\nContent-Length: \(answer.body.utf8.count + 1)\r\nConnection: close\r\n\r\n\(answer.body)\n"
                    _ = Array(text.utf8).withUnsafeBytes {
                        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
    }

    /// Suspends the task until there is something to read.
    private static func readable(_ descriptor: Int32) async {
        await withCheckedContinuation { continuation in
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
            source.setEventHandler { source.cancel() }
            source.setCancelHandler { continuation.resume() }
            source.resume()
        }
    }

    private static func read(_ connection: Int32) async -> Request? {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            await readable(connection)
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0, received.count < 1 << 20 else { return nil }
            received += chunk[..<count]
            if let request = request(String(decoding: received, as: UTF8.self)) { return request }
        }
    }

    /// The request, once all of it has come.
    private static func request(_ text: String) -> Request? {
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let length =
            lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) } ?? 0
        let body = text[end.upperBound...]
        guard body.utf8.count >= length, let path = lines.first?.split(separator: " ").dropFirst().first else {
            return nil
        }
        return Request(path: String(path), body: String(body))
    }
}
