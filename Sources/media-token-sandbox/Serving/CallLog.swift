internal import Files
internal import Glibc
internal import HTTPMessages
internal import TextEncodings
internal import Threading
internal import Timestamps

/// Writes one line per call to standard output: time, method, path and status; never a query, a header or a body.
struct CallLog: Sendable {
    private let lock = Lock()

    func note(_ request: HTTPRequest, _ answer: HTTPAnswer) {
        let line: JSONValue = [
            "method": .text(printable(String(decoding: request.method, as: UTF8.self))),
            "path": .text(printable(String(decoding: request.path, as: UTF8.self), limit: 200)),
            "status": .number(Double(answer.status)), "time": .text(Timestamp.now.internetText),
        ]
        lock.withLock { _ = FileBytes.write(Array("\(line.line)\n".utf8), to: STDOUT_FILENO) }
    }
}

extension JSONValue {
    /// The document of a flat object on one line.
    var line: String { document.replacing("\n  ", with: "").replacing("\n", with: "") }
}
