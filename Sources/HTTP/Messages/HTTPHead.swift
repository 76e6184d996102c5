internal import Basics

/// A request's line and fields, as far as they have been read. All places count from the request's first byte.
struct HTTPHead: Sendable {
    let method: Range<UInt32>
    let target: Range<UInt32>
    private(set) var fields: [HTTPRequest.Field]
    /// Whether the request is one of HTTP/1.0, and not of HTTP/1.1.
    let isOld: Bool
    private let isHead: Bool
    /// The length of the content in bytes; `nil` if no field tells it.
    private(set) var contentLength: Int?
    private(set) var isChunked = false
    /// Whether the client waits for `100 Continue` before it sends the content (RFC 9110, 10.1.1).
    private(set) var awaitsContinue = false
    private var hosts = 0
    private var contentTypes = 0
    private var (asksToClose, asksToStay) = (false, false)

    /// The head of a request of HTTP/1.1, in parts.
    init(method: Range<UInt32>, target: Range<UInt32>, fields: [HTTPRequest.Field]) {
        (self.method, self.target, self.fields) = (method, target, fields)
        (isOld, isHead) = (false, false)
    }

    /// The head before a request has come.
    static let none = HTTPHead(method: 0..<0, target: 0..<0, fields: [])

    /// Reads `method target version` (RFC 9112, 3) at the beginning of the request.
    init(requestLine line: UnsafeBufferPointer<UInt8>) throws(HTTPRefusal) {
        let space = UInt8(ascii: " ")
        guard let first = line.firstIndex(of: space), let last = line.lastIndex(of: space), first < last,
            line[first + 1] == UInt8(ascii: "/"),
            line[(first + 1)..<last].allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw .ambiguous(
                "the request line is malformed; expected a method, a target of visible ASCII that begins with /, and a "
                    + "version")
        }
        switch UnsafeBufferPointer(rebasing: line[(last + 1)...]) {
        case let version where version.isSame(as: "HTTP/1.1"): isOld = false
        case let version where version.isSame(as: "HTTP/1.0"): isOld = true
        default: throw .ambiguous("the request's version is not HTTP/1.1 or HTTP/1.0")
        }
        let name = UnsafeBufferPointer(rebasing: line[..<first])
        guard Self.knownMethods.contains(where: { name.isSame(as: $0) }) else {
            throw .ambiguous("the request's method is none that the server knows")
        }
        isHead = name.isSame(as: "HEAD")
        method = 0..<UInt32(first)
        target = UInt32(first + 1)..<UInt32(last)
        fields = []
        fields.reserveCapacity(16)
    }

    private static let knownMethods: [StaticString] = ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]

    /// What the request asks of the form of its answer.
    ///
    /// The client may keep the connection as RFC 9112, 9.3 says, but not after content in chunks: programs differ in
    /// the spellings that they take for a chunk's size.
    var answerForm: HTTPAnswerForm {
        var form = HTTPAnswerForm()
        form.keepsConnection = !asksToClose && !isChunked && (!isOld || asksToStay)
        (form.isOld, form.isHead) = (isOld, isHead)
        return form
    }

    /// Reads `name: value` (RFC 9112, 5), which lies at `place` in the request.
    mutating func readField(_ line: UnsafeBufferPointer<UInt8>, at place: Int) throws(HTTPRefusal) {
        let (name, value) = try Self.field(line)
        guard fields.count < HTTPMessageLimits.fields else {
            throw HTTPRefusal(431, "the request has more than \(HTTPMessageLimits.fields) header fields")
        }
        fields.append(
            HTTPRequest.Field(
                name: UInt32(place)..<UInt32(place + name.upperBound),
                value: UInt32(place + value.lowerBound)..<UInt32(place + value.upperBound)))
        try note(UnsafeBufferPointer(rebasing: line[name]), UnsafeBufferPointer(rebasing: line[value]))
    }

    /// The places of the name and the value in a field's line; the value has no blanks around it.
    ///
    /// - Throws: if the line is none, or continues the line before it (obs-fold).
    static func field(
        _ line: UnsafeBufferPointer<UInt8>
    ) throws(HTTPRefusal) -> (name: Range<Int>, value: Range<Int>) {
        var colon = 0
        while colon < line.count, line[colon].isTokenCharacter { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw .ambiguous("a header field is not a name, a colon and a value on one line")
        }
        var (begin, end) = (colon + 1, line.count)
        while begin < end, line[begin].isBlank { begin += 1 }
        while begin < end, line[end - 1].isBlank { end -= 1 }
        return (0..<colon, begin..<end)
    }

    /// Notes a field that says where the request ends, or what the client expects of the connection.
    private mutating func note(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) throws(HTTPRefusal) {
        if HTTPFieldName.host.isSame(as: name) {
            guard value.allSatisfy(\.isHostCharacter) else {
                throw .ambiguous("the request's Host is not a host with an optional port (RFC 9110, 7.2)")
            }
            hosts += 1
        } else if HTTPFieldName.contentType.isSame(as: name) {
            contentTypes += 1
        } else if HTTPFieldName.contentLength.isSame(as: name) {
            guard contentLength == nil, !isChunked else { throw severalLengths("Content-Length") }
            contentLength = try Self.length(value)
        } else if HTTPFieldName.transferEncoding.isSame(as: name) {
            guard contentLength == nil, !isChunked else { throw severalLengths("Transfer-Encoding") }
            guard value.isSame(ignoringCaseOf: "chunked"), !isOld else {
                throw .ambiguous("the request's Transfer-Encoding is not chunked in HTTP/1.1")
            }
            isChunked = true
        } else if HTTPFieldName.expect.isSame(as: name) {
            guard value.isSame(ignoringCaseOf: "100-continue") else {
                throw HTTPRefusal(417, "the request expects what this server does not know; expected 100-continue")
            }
            awaitsContinue = !isOld
        } else if HTTPFieldName.connection.isSame(as: name) {
            for option in value.split(separator: UInt8(ascii: ",")) {
                let option = UnsafeBufferPointer(rebasing: option.trimmingBlanks())
                if option.isSame(ignoringCaseOf: "close") { asksToClose = true }
                if option.isSame(ignoringCaseOf: "keep-alive") { asksToStay = true }
            }
        }
    }

    private func severalLengths(_ name: String) -> HTTPRefusal {
        .ambiguous(
            // Unreached: Two lengths of one request, of which the second is named; the reader of HTTP is tested with
            // both orders.
            "the request has \(name) after \(isChunked ? "Transfer-Encoding" : "Content-Length"); expected one length")
    }

    private static func length(_ digits: UnsafeBufferPointer<UInt8>) throws(HTTPRefusal) -> Int {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            throw .ambiguous("the request's Content-Length is not a number")
        }
        var length = 0
        for digit in digits {
            let (tens, isTooLarge) = length.multipliedReportingOverflow(by: 10)
            guard !isTooLarge, tens < .max - 9 else { return .max }
            length = tens + Int(digit - UInt8(ascii: "0"))
        }
        return length
    }

    /// Checks what only the whole head can tell.
    func check(_ limits: HTTPMessageLimits) throws(HTTPRefusal) {
        guard hosts == 1 || hosts == 0 && isOld else {
            throw .ambiguous(
                "the request has \(hosts == 0 ? "no Host" : "several Hosts"); expected one (RFC 9112, 3.2)")
        }
        guard contentTypes <= 1 else { throw .ambiguous("the request has several Content-Types; expected one") }
        // Servers that answer HEAD without reading its content take that for the next request.
        guard !isHead || !isChunked && contentLength ?? 0 == 0 else {
            throw .ambiguous("a HEAD request has content; expected none")
        }
        guard contentLength ?? 0 <= limits.contentBytes else { throw Self.contentTooLong(limits) }
    }

    static func contentTooLong(_ limits: HTTPMessageLimits) -> HTTPRefusal {
        HTTPRefusal(413, "the request's content is longer than \(limits.contentBytes) bytes")
    }
}

extension UInt8 {
    /// Whether the byte may be part of a host and its port (RFC 3986, 3.2.2).
    fileprivate var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "$")...UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: isLetterOrDigit
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    func isSame(as text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && indices.allSatisfy { self[$0] == text.utf8Start[$0] }
    }

    /// - Parameter text: A text in lower case.
    func isSame(ignoringCaseOf text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && indices.allSatisfy { self[$0].asciiLowercased == text.utf8Start[$0] }
    }
}
