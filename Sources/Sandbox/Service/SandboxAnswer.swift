internal import Basics
package import HTTP

/// An answer of the sandbox, and how late it is.
package struct SandboxAnswer: Sendable {
    package var answer: HTTPAnswer
    /// Milliseconds for which the server must keep the answer back.
    package var delay = 0

    init(_ answer: HTTPAnswer) { self.answer = answer }

    static func json(_ status: Int, _ value: JSONValue) -> Self {
        Self(HTTPAnswer(status, type: "application/json;charset=UTF-8", body: Array((value.document + "\n").utf8)))
    }

    static func html(_ status: Int, _ body: String) -> Self {
        var answer = HTTPAnswer(status, type: "text/html; charset=utf-8", body: Array(body.utf8))
        answer.add(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
        answer.add("Cache-Control", "no-store")
        return Self(answer)
    }

    static func redirect(to url: String) -> Self {
        var answer = HTTPAnswer(302)
        answer.add("Location", url)
        return Self(answer)
    }
}

extension JSONValue {
    static func number(_ number: Int64) -> Self { .number(Double(number)) }
    static func texts(_ texts: [String]) -> Self { .list(texts.map { .text($0) }) }
}
