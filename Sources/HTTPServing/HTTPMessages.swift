internal import TextEncodings

/// A request, whole: its body has arrived.
package struct HTTPRequest: Sendable {
    /// Upper case.
    package var method: String
    /// The path as it was sent, still percent-encoded.
    package var path: String
    /// What is behind the question mark, still percent-encoded; `nil` where there is none.
    package var query: String?
    /// In the order in which they were sent.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The address that it came from; empty for a Unix socket.
    package var peer: String

    package init(
        method: String, path: String, query: String? = nil, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], peer: String = ""
    ) {
        (self.method, self.path, self.query) = (method, path, query)
        (self.headers, self.body, self.peer) = (headers, body, peer)
    }

    /// The values of all headers of this name, whose case does not count (RFC 9110, 5.1).
    package func values(of name: String) -> [String] {
        var found: [String] = []
        for header in headers where header.name.isSame(ignoringCaseOf: name) { found.append(header.value) }
        return found
    }
}

/// An answer.
package struct HTTPAnswer: Sendable {
    package var status: Int
    /// Values must be free of line breaks; a header whose value is not is left out.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}
