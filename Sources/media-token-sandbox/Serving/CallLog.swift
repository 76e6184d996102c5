internal import Basics
internal import Glibc
internal import HTTP
internal import Sandbox

/// Writes one line per call to standard output: time, method, path and status; never a code, a query, a header or a
/// body. No event loop waits for a reader: lines that nobody reads are dropped, and counted.
struct CallLog: Sendable {
    private let writer = LineWriter(to: STDOUT_FILENO) { "{\"dropped\":\($0)}" }

    func note(_ request: HTTPRequest, _ answer: HTTPAnswer) {
        let line: JSONValue = [
            "method": .text(printable(String(decoding: request.method, as: UTF8.self))),
            "path": .text(printable(SandboxService.pathWithoutCode(of: request), limit: 200)),
            "status": .number(Double(answer.status)), "time": .text(Timestamp.now.internetText),
        ]
        writer.add(Array("\(line.line)\n".utf8))
    }

    /// Writes the remaining lines, unless nobody reads them.
    func close() { writer.close(withinMilliseconds: 1000) }
}

extension JSONValue {
    /// The document of a flat object on one line.
    var line: String { document.replacing("\n  ", with: "").replacing("\n", with: "") }
}
