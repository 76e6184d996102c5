internal import Basics
package import EventLoops

/// A connection to an HTTP server. It sends one request after the other, and stays open between them.
///
/// The client belongs to its loop's thread.
package final class HTTPClient {
    package typealias Answer = HTTPAnswerReader.Answer

    private let loop: EventLoop
    private let address: String
    private let port: UInt16
    private let timeout: Duration
    private var connection: StreamConnection?
    private let bodyLimit: Int
    private var reader: HTTPAnswerReader
    /// The closure that gets the answer to the request under way, and the time by which the answer must come.
    private var pending: (completion: (Answer?) -> Void, end: ContinuousClock.Instant)?
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - address: the server's address; an IPv6 address without brackets.
    ///   - timeout: the longest time to wait for an answer, in seconds.
    ///   - bodyLimit: the most bytes of an answer's body. A longer answer counts as none.
    package init(
        _ loop: EventLoop, address: String = "127.0.0.1", port: UInt16, timeout: Int32 = 10,
        bodyLimit: Int = HTTPAnswerReader.usualLimit
    ) {
        (self.loop, self.address, self.port, self.timeout) = (loop, address, port, .seconds(Int(timeout)))
        (self.bodyLimit, reader) = (bodyLimit, HTTPAnswerReader(bodyLimit: bodyLimit))
    }

    /// Sends a request: a POST if it has a body, otherwise a GET. Only one request may be pending at a time.
    ///
    /// Without a `Host` among `headers`, the request names the address and the port of the server.
    ///
    /// - Parameter completion: called on the loop's thread, never from within this call; with `nil` if no answer came.
    package func send(
        _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        _ completion: @escaping (Answer?) -> Void
    ) {
        var request = "\(body == nil ? "GET" : "POST") \(target) HTTP/1.1\r\n"
        if !headers.contains(where: { $0.name.isSame(ignoringCaseOf: "Host") }) {
            request += "Host: \(address.contains(":") ? "[\(address)]" : address):\(port)\r\n"
        }
        for (name, value) in headers { request += "\(name): \(value)\r\n" }
        if let body { request += "Content-Length: \(body.count)\r\n" }
        pending = (completion, .now + timeout)
        do throws(StreamConnection.Ending) {
            if connection == nil { connection = try connect() }
            connection?.send(Array((request + "\r\n").utf8) + (body ?? []))
        } catch {
            timer = loop.timer(afterMilliseconds: 0) { [unowned self] in
                timer = nil
                complete(nil)
            }
            return
        }
        if timer == nil { watch() }
    }

    /// Sends a request as ``send(_:headers:body:_:)`` does, and waits for the answer; `nil` if none came.
    package func ask(
        _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) -> Answer? {
        var (answer, isDone) = (Answer?.none, false)
        send(target, headers: headers, body: body) { (answer, isDone) = ($0, true) }
        loop.run { isDone }
        return answer
    }

    private func connect() throws(StreamConnection.Ending) -> StreamConnection {
        reader = HTTPAnswerReader(bodyLimit: bodyLimit)
        return try StreamConnection(
            to: address, port: port, tls: nil, on: loop, received: { [unowned self] in receive($0) },
            ended: { [unowned self] _ in
                connection = nil
                complete(nil)
            })
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        // Bytes that answer no request would be taken for the answer to the next one.
        guard pending != nil else { return close() }
        reader.append(bytes)
        do throws(HTTPRefusal) {
            guard let answer = try reader.next() else { return }
            // Bytes behind an answer would be taken for the next answer.
            if !answer.keepsConnection || !reader.isEmpty { close() }
            complete(answer)
        } catch {
            close()
            complete(nil)
        }
    }

    private func close() {
        connection?.close()
        connection = nil
    }

    private func complete(_ answer: Answer?) {
        let completion = pending?.completion
        pending = nil
        completion?(answer)
    }

    /// Looks once a second whether an answer is overdue.
    private func watch() {
        timer = loop.timer(afterMilliseconds: 1000) { [unowned self] in
            timer = nil
            guard let pending else { return }
            if ContinuousClock.now > pending.end {
                close()
                complete(nil)
            } else {
                watch()
            }
        }
    }
}
