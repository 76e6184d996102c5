internal import Basics

/// Reads answers from the bytes of a connection to a server that tells the length of each (RFC 9112, 6.3).
package struct HTTPAnswerReader: Sendable {
    /// An answer of which every byte has arrived.
    package struct Answer: Sendable {
        package let status: Int
        /// The header fields, in the order in which they were sent.
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]
        /// Whether the server takes another request on the connection.
        package let keepsConnection: Bool
    }

    private var input = HTTPInput()
    private var status: Int?
    private var headers: [(name: String, value: String)] = []
    /// The length of the body; `nil` until the whole head has come.
    private var length: Int?

    /// The most bytes of a line of an answer's head, and of a body where no other limit is given.
    package static let usualLimit = 1 << 20
    private let bodyLimit: Int

    /// - Parameter bodyLimit: The most bytes of an answer's body.
    package init(bodyLimit: Int = usualLimit) { self.bodyLimit = bodyLimit }

    /// Whether no bytes have come beyond the last answer.
    package var isEmpty: Bool { input.count == 0 }

    /// Adds bytes that have come.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) { input.append(bytes) }

    /// Reads on, up to the end of an answer; `nil` if that has not come.
    ///
    /// - Throws: what is wrong with the answer. The connection is of no use then.
    package mutating func next() throws(HTTPRefusal) -> Answer? {
        while length == nil {
            guard let line = try input.nextLine(limit: Self.usualLimit, Self.malformed) else { return nil }
            let text = try input.with(line) { (bytes) throws(HTTPRefusal) -> String? in
                guard status != nil, !bytes.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
                let field = try HTTPHead.field(bytes)
                headers.append(
                    (
                        String(decoding: bytes[field.name], as: UTF8.self),
                        String(decoding: bytes[field.value], as: UTF8.self)
                    ))
                return nil
            }
            guard let text else { continue }
            if status == nil { status = try Self.status(text) } else { try endHead() }
        }
        guard let status, let length, input.count >= input.line + length else { return nil }
        let head = input.line
        let body = Array(input.take(head + length).dropFirst(head))
        let closes = headers.values(of: "connection").contains { $0.isSame(ignoringCaseOf: "close") }
        let answer = Answer(status: status, headers: headers, body: body, keepsConnection: !closes)
        (self.status, headers, self.length) = (nil, [], nil)
        return answer
    }

    private static let malformed = HTTPRefusal.ambiguous("the answer is not one of HTTP/1.1 with a Content-Length")

    private static func status(_ line: String) throws(HTTPRefusal) -> Int {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]), (100...599).contains(status) else {
            throw malformed
        }
        return status
    }

    private mutating func endHead() throws(HTTPRefusal) {
        // An interim answer, such as 100 Continue, comes before the answer itself.
        if let interim = status, interim < 200 {
            _ = input.take(input.line)
            return (status, headers) = (nil, [])
        }
        let lengths = headers.values(of: "content-length")
        guard headers.values(of: "transfer-encoding").isEmpty, lengths.count <= 1 else { throw Self.malformed }
        guard let length = lengths.isEmpty ? 0 : Int(lengths[0]), (0...bodyLimit).contains(length) else {
            throw Self.malformed
        }
        self.length = length
    }
}

extension HTTPAnswerReader.Answer {
    /// The value of the first header of this name, whose case does not count.
    package func header(_ name: String) -> String? { values(of: name).first }

    /// The values of the headers of this name, whose case does not count.
    package func values(of name: String) -> [String] { headers.values(of: name) }
}

extension [(name: String, value: String)] {
    fileprivate func values(of name: String) -> [String] {
        filter { $0.name.isSame(ignoringCaseOf: name) }.map(\.value)
    }
}
