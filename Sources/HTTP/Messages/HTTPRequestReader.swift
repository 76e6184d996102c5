internal import Basics

/// Reads requests from the bytes of one connection, one after the other (RFC 9112).
///
/// The reader refuses whatever two programs could read in two ways, such as a line that ends with a line feed alone, a
/// folded field, or two lengths. It looks at each byte once, however the bytes arrive, and knows no socket and no
/// clock.
package struct HTTPRequestReader: Sendable {
    /// What the bytes that have come amount to.
    package enum Progress: Sendable {
        /// The request's end has not come.
        case unfinished
        /// The client waits for `100 Continue` before it sends the rest.
        case awaitsContinue
        case request(HTTPRequest)
        case refused(HTTPRefusal)
    }

    private enum Phase {
        case requestLine
        case fields
        /// Content of this many bytes follows the head.
        case content(Int)
        /// Content in chunks follows this head.
        case chunks(head: ArraySlice<UInt8>, HTTPChunkedContent)
    }

    private let limits: HTTPMessageLimits
    private var input = HTTPInput()
    private var phase = Phase.requestLine
    private var head = HTTPHead.none
    /// Whether the empty line has come that a server ignores before a request (RFC 9112, 2.2).
    private var hasIgnoredLine = false

    package init(_ limits: HTTPMessageLimits) { self.limits = limits }

    /// Whether a part of a request has come.
    package var isInsideRequest: Bool {
        if case .requestLine = phase { return input.count > 0 }
        return true
    }

    /// The bytes of memory that the unfinished request takes.
    package var heldBytes: Int {
        var bytes = input.heldBytes + head.fields.capacity * MemoryLayout<HTTPRequest.Field>.stride
        if case .chunks(let head, let content) = phase { bytes += head.count + content.bytes.capacity }
        return bytes
    }

    /// The form of the answer to a request that is refused. It ends the connection, because bytes that follow may be
    /// part of what was refused.
    package var refusalForm: HTTPAnswerForm {
        var form = head.answerForm
        form.keepsConnection = false
        return form
    }

    /// Adds bytes that have come.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) { input.append(bytes) }

    /// Reads on, up to the end of a request. The reader must not be used after a refusal.
    ///
    /// - Parameter peer: The address of the client; empty for a Unix socket.
    package mutating func next(from peer: String) -> Progress {
        do throws(HTTPRefusal) { return try read(from: peer) } catch { return .refused(error) }
    }

    private mutating func read(from peer: String) throws(HTTPRefusal) -> Progress {
        while true {
            switch phase {
            case .requestLine:
                guard let line = try nextLine() else { return .unfinished }
                if line.isEmpty, !hasIgnoredLine {
                    hasIgnoredLine = true
                    _ = input.take(input.line)
                    continue
                }
                head = try input.with(line) { (bytes) throws(HTTPRefusal) in try HTTPHead(requestLine: bytes) }
                phase = .fields
            case .fields:
                guard let line = try nextLine() else { return .unfinished }
                if line.isEmpty {
                    if try endHead() { return .awaitsContinue }
                } else {
                    try input.with(line) { (bytes) throws(HTTPRefusal) in
                        try head.readField(bytes, at: line.lowerBound)
                    }
                }
            case .content(let length):
                let headLength = input.line
                guard input.count >= headLength + length else { return .unfinished }
                let message = input.take(headLength + length)
                return .request(end(message, headLength: headLength, nil, peer))
            case .chunks(let message, var content):
                phase = .requestLine
                let isWhole = try content.read(&input, limits)
                if isWhole { return .request(end(message, headLength: message.count, content.bytes, peer)) }
                phase = .chunks(head: message, content)
                return .unfinished
            }
        }
    }

    private mutating func nextLine() throws(HTTPRefusal) -> Range<Int>? {
        try input.nextLine(
            limit: limits.headBytes,
            HTTPRefusal(431, "the request's line and header fields are longer than \(limits.headBytes) bytes"))
    }

    /// Goes on to the content.
    ///
    /// - Returns: Whether the client waits for `100 Continue`.
    private mutating func endHead() throws(HTTPRefusal) -> Bool {
        try head.check(limits)
        let isLast = input.count == input.line
        if head.isChunked {
            // A copy: the slice would keep all bytes that have come, which then nothing counts.
            phase = .chunks(head: Array(input.take(input.line))[...], HTTPChunkedContent())
        } else {
            phase = .content(head.contentLength ?? 0)
        }
        return head.awaitsContinue && isLast && (head.isChunked || head.contentLength ?? 0 > 0)
    }

    private mutating func end(_ message: ArraySlice<UInt8>, headLength: Int, _ chunks: [UInt8]?, _ peer: String)
        -> HTTPRequest
    {
        defer { (head, phase, hasIgnoredLine) = (.none, .requestLine, false) }
        return HTTPRequest(message, head, headLength: headLength, chunks: chunks, peer: peer)
    }
}
