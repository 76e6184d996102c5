/// A token as it arrived: the bytes of a header, a form field, a query parameter, a body or a file, wrapped or not.
///
/// Creating one reads nothing. The verifier unwraps it: REST v1 and v2 documents, percent-encoding and Base64, at most one
/// layer of each, recognised by the first bytes. White space around a layer is ignored.
public struct RawToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// The largest input accepted, in bytes. A real token has about 430; one for a long MRSS resource a few thousand.
    public static let sizeLimit = 65_536

    package let bytes: [UInt8]

    /// Takes the bytes as they arrived.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Takes the UTF-8 bytes of `text`.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The size only. A token in a log could be used by anyone who reads the log.
    public var description: String { "RawToken(\(bytes.count) bytes)" }
    /// An empty mirror, so that a dump does not show the token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
