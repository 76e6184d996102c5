/// Reads a capture from front to back in UTF-8, and counts its lines. A byte order mark is dropped, and UTF-16 is
/// recoded. It holds one chunk at a time, so a capture may be larger than memory.
final class CaptureReader {
    private let read: () -> [UInt8]
    private var recoder: UTF16Recoder?
    private var chunk: ArraySlice<UInt8> = []
    private var next = 0
    private var isAtEnd = false
    /// The number of the line that the next byte belongs to, from 1.
    private(set) var line = 1
    /// The number of bytes of the chunk that are left.
    var left: Int { chunk.endIndex - next }
    /// Whether the capture was in UTF-16.
    var isRecoded: Bool { recoder != nil }

    /// - Parameter read: returns the next bytes of the capture, and none at its end.
    init(_ read: @escaping () -> [UInt8]) {
        self.read = read
        has(4)
        if let recoder = UTF16Recoder(beginning: chunk.prefix(4)) {
            self.recoder = recoder
            chunk = self.recoder?.recode(Array(chunk))[...] ?? []
        }
        if has(3), chunk.prefix(3) == [0xEF, 0xBB, 0xBF] { next = 3 }
    }

    /// Reads a text that is in memory, and in UTF-8.
    init(_ text: ArraySlice<UInt8>) {
        (read, chunk, next, isAtEnd) = ({ [] }, text, text.startIndex, true)
    }

    /// The next byte; `nil` at the end.
    var peek: UInt8? { next < chunk.endIndex || has(1) ? chunk[next] : nil }

    /// Whether at least `count` bytes are left, which must be few. It reads on if the chunk has fewer.
    @discardableResult
    func has(_ count: Int) -> Bool {
        while left < count, !isAtEnd {
            let more = read()
            isAtEnd = more.isEmpty
            chunk = (chunk[next...] + (recoder?.recode(more) ?? more))[...]
            next = chunk.startIndex
        }
        return left >= count
    }

    /// The next `count` bytes; fewer at the end.
    func ahead(_ count: Int) -> ArraySlice<UInt8> {
        has(count)
        return chunk[next...].prefix(count)
    }

    func skip(_ count: Int = 1) {
        for byte in chunk[next...].prefix(count) where byte == UInt8(ascii: "\n") { line += 1 }
        next += min(count, left)
    }

    /// Takes what the chunk holds up to the first byte for which `isEnd` holds, and at most `limit` bytes.
    ///
    /// - Returns: No bytes if the next byte is the end, or if none is left.
    func take(_ limit: Int, until isEnd: (UInt8) -> Bool = { _ in false }) -> ArraySlice<UInt8> {
        guard has(1) else { return [] }
        let begin = next
        let end =
            begin
            + chunk[begin...].prefix(limit).withUnsafeBufferPointer { bytes in
                var count = 0
                while count < bytes.count, !isEnd(bytes[count]) { count += 1 }
                return count
            }
        skip(end - begin)
        return chunk[begin..<end]
    }
}

/// Recodes UTF-16 to UTF-8, chunk by chunk. Half of a surrogate pair becomes the replacement character.
private struct UTF16Recoder {
    private let isBigEndian: Bool
    /// The bytes of a code unit, or of a pair, whose end the next chunk brings.
    private var rest: [UInt8] = []

    /// Recognises UTF-16 by its byte order mark, or by ASCII characters whose other byte is zero.
    init?(beginning: ArraySlice<UInt8>) {
        switch Array(beginning) {
        case let bytes where bytes.starts(with: [0xFE, 0xFF]): isBigEndian = true
        case let bytes where bytes.starts(with: [0xFF, 0xFE]): isBigEndian = false
        case let bytes where bytes.count == 4 && bytes[0] == 0 && bytes[2] == 0 && bytes[1] > 0: isBigEndian = true
        case let bytes where bytes.count == 4 && bytes[1] == 0 && bytes[3] == 0 && bytes[0] > 0: isBigEndian = false
        default: return nil
        }
    }

    /// Recodes a chunk; an empty one ends the text.
    mutating func recode(_ chunk: [UInt8]) -> [UInt8] {
        let bytes = rest + chunk
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { (at) -> UInt16 in
            let (high, low) = isBigEndian ? (bytes[at], bytes[at + 1]) : (bytes[at + 1], bytes[at])
            return UInt16(high) << 8 | UInt16(low)
        }
        if let last = units.last, UTF16.isLeadSurrogate(last), !chunk.isEmpty { units.removeLast() }
        rest = Array(bytes[(2 * units.count)...])
        let text = String(decoding: units, as: UTF16.self).utf8
        return Array(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...])
    }
}
