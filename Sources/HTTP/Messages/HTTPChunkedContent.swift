internal import Basics

/// Content that comes in chunks (RFC 9112, 7.1).
///
/// Programs differ in what they take for a chunk's size (`0x1`, `+1`, `1 ;a`), so a size is hexadecimal digits and
/// nothing else. The fields of a trailer are checked and dropped.
struct HTTPChunkedContent: Sendable {
    private enum Phase {
        case size
        /// The bytes of a chunk that have not come.
        case bytes(Int)
        /// The line break behind a chunk.
        case end
        case trailer
    }

    private var phase = Phase.size
    private var trailerBytes = 0
    private(set) var bytes: [UInt8] = []

    /// The most digits of a chunk's size; a line that has more is longer than a size's line may be.
    private static let sizeDigits = 8

    /// Reads what has come, and drops it from `input`.
    ///
    /// - Returns: Whether the content is whole.
    mutating func read(_ input: inout HTTPInput, _ limits: HTTPMessageLimits) throws(HTTPRefusal) -> Bool {
        while true {
            switch phase {
            case .size:
                guard let line = try Self.line(of: &input, limit: Self.sizeDigits + 2) else { return false }
                let size = try input.with(line, Self.size)
                guard size <= limits.contentBytes - bytes.count else { throw HTTPHead.contentTooLong(limits) }
                _ = input.take(input.line)
                phase = size == 0 ? .trailer : .bytes(size)
            case .bytes(let missing):
                let count = min(missing, input.count)
                guard count > 0 else { return false }
                bytes += input.take(count)
                phase = missing > count ? .bytes(missing - count) : .end
            case .end:
                // The only line of two bytes is the empty one.
                guard try Self.line(of: &input, limit: 2) != nil else { return false }
                _ = input.take(input.line)
                phase = .size
            case .trailer:
                let tooLong = HTTPRefusal(431, "the request's trailer is longer than \(limits.headBytes) bytes")
                guard let line = try input.nextLine(limit: limits.headBytes - trailerBytes, tooLong) else {
                    return false
                }
                if !line.isEmpty { _ = try input.with(line, HTTPHead.field) }
                trailerBytes += input.line
                _ = input.take(input.line)
                if line.isEmpty { return true }
            }
        }
    }

    private static let malformed = HTTPRefusal.ambiguous(
        "the content's chunks are malformed; expected each as its size in hexadecimal digits alone, and its bytes")

    private static func line(of input: inout HTTPInput, limit: Int) throws(HTTPRefusal) -> Range<Int>? {
        try input.nextLine(limit: limit, malformed)
    }

    private static func size(_ digits: UnsafeBufferPointer<UInt8>) throws(HTTPRefusal) -> Int {
        guard !digits.isEmpty else { throw malformed }
        var size = 0
        for digit in digits {
            guard let value = Hexadecimal.value(of: digit) else { throw malformed }
            size = size << 4 | Int(value)
        }
        return size
    }
}
