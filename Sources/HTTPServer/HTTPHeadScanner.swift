/// Looks whether a request's head is written as RFC 9112 (2.2 and 2.3) has it.
///
/// libevent takes a line feed alone for the end of a line. Whoever does not takes what follows for the same line, and so
/// the head to end elsewhere. It also takes any version below 2 for one that it knows.
struct HTTPHeadScanner {
    /// Whether others may read it otherwise than libevent does.
    private(set) var isOdd = false
    /// Whether its empty line has come.
    private(set) var hasEnded = false
    private var isRequestLine = true
    /// The last eight bytes of the request line.
    private var version: UInt64 = 0
    private var lineLength = 0
    private var last: UInt8 = 0

    private static let versions = ["HTTP/1.0", "HTTP/1.1"].map { $0.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func scan(_ bytes: [UInt8]) {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        for byte in bytes {
            if (byte == lineFeed) != (last == carriageReturn) { isOdd = true }
            last = byte
            if byte == lineFeed {
                if isRequestLine, !Self.versions.contains(version) { isOdd = true }
                if lineLength == 0 { return hasEnded = true }
                (isRequestLine, lineLength) = (false, 0)
            } else if byte != carriageReturn {
                lineLength += 1
                if isRequestLine { version = version << 8 | UInt64(byte) }
            }
        }
    }
}
