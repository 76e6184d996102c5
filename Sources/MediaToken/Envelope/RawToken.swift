/// A token as it arrived: the bytes of a header, a form field, a query parameter, a body or a file, wrapped or not.
///
/// Nothing is read when it is made. The verifier un-wraps it: REST v1 and v2 documents, percent-encoding and Base64,
/// at most one layer of each, told apart by what the bytes are. White space around it does not count.
public struct RawToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// Bytes accepted at the most. A real token has about 430; one for a long MRSS resource a few thousand.
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

    /// The size alone: a token that lies in a log can be used by whoever reads the log.
    public var description: String { "RawToken(\(bytes.count) bytes)" }
    /// Nothing, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
