package import Basics

/// An answer to a request.
package struct HTTPAnswer: Sendable {
    package let status: Int
    /// The header fields, apart from those that the server adds.
    package var fields = HTTPFields()
    package var body: [UInt8]

    /// - Parameter type: The media type of the body; `nil` if there is none.
    package init(_ status: Int, type: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.body = body
        if let type { fields.add("Content-Type", type) }
    }

    /// Adds a header field, unless the value holds a control character, such as a line break.
    package mutating func add(_ name: StaticString, _ value: String) { fields.add(name, value) }

    /// The names and values of ``fields``.
    package var headers: [(name: String, value: String)] { fields.list }

    /// Writes the answer to the end of `out`.
    ///
    /// - Parameters:
    ///   - form: What the request asks of the answer's form.
    ///   - date: The time of the answer (RFC 9110, 6.6.1), as the field's value.
    package func write(to out: inout ByteWriter, _ form: HTTPAnswerForm, date: [UInt8]) {
        out.write("HTTP/1.1 ")
        out.write(decimal: Int64(status))
        out.write(" ")
        out.write(Self.reason(status))
        out.write("\r\nDate: ")
        out.write(date)
        out.write("\r\n")
        out.write(fields.bytes)
        // An answer with one of these ends after its header fields (RFC 9110, 15.3.5 and 15.4.5).
        let mayHaveBody = status != 204 && status != 304
        if mayHaveBody, body.isEmpty || !form.isHead {
            out.write("Content-Length: ")
            out.write(decimal: Int64(body.count))
            out.write("\r\n")
        }
        if !form.keepsConnection {
            out.write("Connection: close\r\n")
        } else if form.isOld {
            out.write("Connection: keep-alive\r\n")
        }
        out.write("\r\n")
        if mayHaveBody, !form.isHead { out.write(body) }
    }

    /// The status's name (RFC 9110, 15), which clients ignore.
    private static func reason(_ status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 302: "Found"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }
}

/// What a request asks of the form of its answer.
package struct HTTPAnswerForm: Sendable {
    /// Whether the client may send another request on the connection.
    package var keepsConnection = false
    /// Whether the request is one of HTTP/1.0.
    var isOld = false
    /// Whether the request's method is HEAD, whose answer has no body (RFC 9110, 9.3.2), and tells none's length.
    var isHead = false

    package init() {}
}
