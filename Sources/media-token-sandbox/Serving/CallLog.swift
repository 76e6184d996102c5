internal import Basics
internal import Glibc
internal import HTTP
internal import Sandbox

/// Writes one line per call to standard output: time, method, path, status, and the ID that the programmer's analytics
/// gave the viewer (`AP-Visitor-Identifier`); never a code, a query, another header or a body. No event loop waits for
/// a reader: lines that nobody reads are dropped, and counted.
struct CallLog: Sendable {
    private let writer = LineWriter(to: STDOUT_FILENO) { "{\"dropped\":\($0)}" }

    func note(_ request: HTTPRequest, _ answer: HTTPAnswer) {
        let line: JSONValue = [
            "method": .text(printable(String(decoding: request.method, as: UTF8.self))),
            "path": .text(printable(SandboxService.pathWithoutCode(of: request), limit: 200)),
            "status": .number(Double(answer.status)), "time": .text(Timestamp.now.internetText),
            "visitor": request.onlyText(of: "ap-visitor-identifier").map { .text(printable($0, limit: 200)) } ?? .null,
        ]
        writer.add(Array("\(line.line)\n".utf8))
    }

    /// Writes the remaining lines, unless nobody reads them.
    func close() { writer.close(withinMilliseconds: 1000) }
}
