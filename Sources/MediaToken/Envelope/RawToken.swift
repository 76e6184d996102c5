/// A token as it arrived: the bytes of a header, a form field, a query parameter, a body or a file, wrapped or not.
///
/// Creating a `RawToken` reads nothing. The verifier unwraps it: REST v1 and v2 documents, percent-encoding and Base64,
/// at most one layer of each, recognised by the first bytes. White space around a layer is ignored, as are line breaks
/// within Base64 and a byte order mark before JSON.
public struct RawToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// The largest input accepted, in bytes. A real token has about 430 bytes; one for a long MRSS resource has a few
    /// thousand.
    public static let sizeLimit = 65_536

    package let bytes: ArraySlice<UInt8>
    /// Whether a message may quote the first bytes of an input that is no token. It must not quote a file, which may be
    /// one that the reader of the message must not read.
    package var mayBeQuoted = true

    /// Creates a token from the bytes as they arrived.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Creates a token from the bytes as they arrived, which it shares and does not copy.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Creates a token from the UTF-8 bytes of `text`.
    public init(_ text: String) {
        bytes = Array(text.utf8)[...]
    }

    /// The size only, since anyone who reads a log could use a token in it.
    public var description: String { "RawToken(\(bytes.count) bytes)" }
    /// An empty mirror, so that a dump does not show the token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
