package import EventLoops

/// Connections to one server, which stay open. Each carries one request at a time; other requests queue.
package final class ConnectionPool {
    private struct Request {
        let target: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]?
        let completion: (HTTPClient.Answer?) -> Void
    }

    private let loop: EventLoop
    private let server: ServerURL
    private let most: Int
    private let bodyLimit: Int
    private var made = 0
    private var idle: [HTTPClient] = []
    private var waiting: [Request] = []
    /// The number of requests at the front of ``waiting`` that were sent.
    private var taken = 0

    /// - Parameters:
    ///   - most: The most connections at a time.
    ///   - bodyLimit: The most bytes of an answer's body.
    package init(_ loop: EventLoop, _ server: ServerURL, most: Int, bodyLimit: Int = HTTPAnswerReader.usualLimit) {
        (self.loop, self.server, self.most, self.bodyLimit) = (loop, server, most, bodyLimit)
    }

    /// Sends a request as ``HTTPClient/send(_:headers:body:_:)`` does, as soon as a connection is free.
    package func send(
        _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        _ completion: @escaping (HTTPClient.Answer?) -> Void
    ) {
        waiting.append(Request(target: server.path + target, headers: headers, body: body, completion: completion))
        if let client = idle.popLast() {
            sendNext(by: client)
        } else if made < most {
            made += 1
            sendNext(by: HTTPClient(loop, address: server.host, port: server.port, timeout: 30, bodyLimit: bodyLimit))
        }
    }

    private func sendNext(by client: HTTPClient) {
        guard taken < waiting.count else { return idle.append(client) }
        let request = waiting[taken]
        taken += 1
        if taken == waiting.count || taken > 4096 {
            waiting.removeFirst(taken)
            taken = 0
        }
        client.send(request.target, headers: request.headers, body: request.body) { [unowned self] answer in
            sendNext(by: client)
            request.completion(answer)
        }
    }
}
