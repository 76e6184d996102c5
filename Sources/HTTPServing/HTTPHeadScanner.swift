internal import TextEncodings

/// Looks whether a request's head is written as RFC 9112 (2.2, 2.3, 5.1 and 5.2) has it.
///
/// libevent takes a line feed alone for the end of a line, joins folded lines, ends a value at a NUL, and takes any version below
/// 2 for one that it knows. Whoever reads it otherwise takes the head to end elsewhere, or to say something else. Behind a
/// CONNECT it keeps the connection, whatever it has answered.
struct HTTPHeadScanner {
    /// Whether others may read it otherwise than libevent does, or it has more lines than any.
    private(set) var isOdd = false
    /// Whether its empty line has come.
    private(set) var hasEnded = false
    private var isRequestLine = true
    private var lineLength = 0
    /// Lines that have come so far.
    private(set) var lines = 0
    private static let lineLimit = 512
    private var last: UInt8 = 0
    /// The request line's first eight bytes, and its last.
    private var (method, version) = (UInt64(0), UInt64(0))

    private static let (oldest, newest) = (number("HTTP/1.0"), number("HTTP/1.1"))
    private static let connect = number("CONNECT ")

    private static func number(_ text: String) -> UInt64 { text.utf8.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Whether the request must have a Host, as from HTTP/1.1 on (RFC 9112, 3.2). Known once its request line has come.
    var demandsHost: Bool { version == Self.newest }

    mutating func scan(_ bytes: [UInt8]) {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        for byte in bytes {
            if (byte == lineFeed) != (last == carriageReturn) { isOdd = true }
            last = byte
            if byte == lineFeed {
                if isRequestLine, version != Self.oldest && !demandsHost || method == Self.connect { isOdd = true }
                if lineLength == 0 { return hasEnded = true }
                (isRequestLine, lineLength, lines) = (false, 0, lines + 1)
                if lines > Self.lineLimit { isOdd = true }
            } else if byte != carriageReturn {
                take(byte)
            }
        }
    }

    private mutating func take(_ byte: UInt8) {
        if byte < 0x20 && byte != 0x09 || byte == 0x7F { isOdd = true }
        if isRequestLine {
            if lineLength < 8 { method = method << 8 | UInt64(byte) }
            version = version << 8 | UInt64(byte)
        } else if lineLength == 0, byte.isBlank || byte == UInt8(ascii: ":") {
            isOdd = true
        }
        lineLength += 1
    }
}
