import Foundation
import Glibc

/// A TCP connection to the loopback, byte by byte: for peers that behave, and for those that do not.
package final class RawConnection {
    private let socket: Int32
    private var received: [UInt8] = []

    package init(port: Int) throws {
        // A program that another test starts meanwhile does not keep it open.
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard loopback(port, { connect(socket, $0, $1) }) == 0 else {
            throw Program.Failure(description: "cannot connect to port \(port): errno \(errno)")
        }
        var patience = timeval(tv_sec: Int(Program.patience.components.seconds), tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(socket) }

    /// Whether the kernel took all of it.
    @discardableResult
    package func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Sends no more, and goes on receiving.
    package func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// The next answer: its status, headers and body. `nil` where the peer has closed.
    package func answer() -> (status: Int, headers: String, body: String)? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            // Not by the library's search of collections, which takes a lock that many threads then wait for.
            if let begin = received.indices.first(where: { received[$0...].starts(with: end) }) {
                let headers = String(decoding: received[..<begin], as: UTF8.self)
                let length =
                    headers.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
                while received.count < begin + end.count + length { if !receive() { return nil } }
                let body = String(decoding: received[(begin + end.count)...].prefix(length), as: UTF8.self)
                received.removeFirst(begin + end.count + length)
                return (Int(headers.dropFirst(9).prefix(3)) ?? 0, headers, body)
            }
            if !receive() { return nil }
        }
    }

    /// Sends a request, and returns the answer to it.
    package func ask(_ request: String) -> (status: Int, headers: String, body: String)? {
        send(request)
        return answer()
    }

    /// All that comes until the peer closes.
    package func rest() -> String {
        while receive() {}
        return String(decoding: received, as: UTF8.self)
    }

    /// Whether nothing comes in so many milliseconds.
    package func isSilent(forMilliseconds patience: Int32) -> Bool {
        var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return received.isEmpty && poll(&wanted, 1, patience) == 0
    }

    /// Whether the peer ends the connection, without another answer.
    ///
    /// - Parameter milliseconds: how long that is waited for; as long as for any event without it.
    package func isClosed(withinMilliseconds milliseconds: Int32? = nil) -> Bool {
        var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let patience = milliseconds ?? Int32(Program.patience / .milliseconds(1))
        return received.isEmpty && poll(&wanted, 1, patience) == 1 && !receive()
    }

    /// Whether something was sent to a server on the loopback that the server has not received yet.
    package static func hasUnreadBytes(port: Int) throws -> Bool {
        let place = String(format: "0100007F:%04X", port)
        // The kernel gives such a file in pieces, and `String(contentsOfFile:)` would take only the first.
        let table = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp")).readToEnd() ?? Data()
        let connections = String(decoding: table, as: UTF8.self).split(separator: "\n")
        return connections.contains { line in
            let fields = line.split(separator: " ")
            return fields[1] == place && fields[3] == "01" && !fields[4].hasSuffix(":00000000")
        }
    }

    private func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = recv(socket, &chunk, chunk.count, 0)
        if count > 0 { received += chunk[..<count] }
        return count > 0
    }
}
