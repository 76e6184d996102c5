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

extension String {
    /// Byte by byte; case counts outside of ASCII, where other letters turn into ASCII's (the Kelvin sign into k).
    package func isSame(ignoringCaseOf other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Swift's own strings lie in one piece; to walk through their characters would take ten times as long.
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                left.indices.allSatisfy { left[$0].asciiLowercased == right[$0].asciiLowercased }
            }
        }
        return (isSame ?? nil) ?? zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// Without the spaces and tabs around it.
    @inlinable package func trimmingBlanks() -> Self {
        var rest = drop(while: \.isBlank)
        while rest.last?.isBlank == true { rest.removeLast() }
        return rest
    }
}

extension UInt8 {
    package var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }

    /// Space or tab: white space within a line (RFC 9110, 5.6.3).
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Of a name or a method, which HTTP calls a token (RFC 9110, 5.6.2).
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(self)
        }
    }
}
