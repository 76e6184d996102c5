internal import Basics

/// The name of a header field, whose case does not count (RFC 9110, 5.1).
package struct HTTPFieldName: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name in the case in which its user wrote it.
    package let description: String
    /// The name in lower case.
    let bytes: [UInt8]

    package init(_ text: String) { (description, bytes) = (text, text.utf8.map(\.asciiLowercased)) }

    package init(stringLiteral text: String) { self.init(text) }

    /// Whether `other` is this name in any case.
    func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard other.count == bytes.count else { return false }
        return bytes.withUnsafeBufferPointer { own in
            for index in own.indices where own[index] != other[index].asciiLowercased { return false }
            return true
        }
    }
}

extension HTTPFieldName {
    package static let connection: Self = "connection"
    package static let contentEncoding: Self = "content-encoding"
    package static let contentLength: Self = "content-length"
    package static let contentType: Self = "content-type"
    package static let expect: Self = "expect"
    package static let host: Self = "host"
    package static let transferEncoding: Self = "transfer-encoding"
}
