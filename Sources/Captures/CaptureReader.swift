internal import Basics

/// Reads a capture from front to back in UTF-8, and counts its lines. A byte order mark is dropped, UTF-16 is recoded,
/// and gzip is unpacked. It holds one chunk at a time, so a capture may be larger than memory.
final class CaptureReader {
    private var read: () -> [UInt8]
    private var recoder: UTF16Recoder?
    private var chunk: ArraySlice<UInt8> = []
    private var next = 0
    private var isAtEnd = false
    /// The number of the line that the next byte belongs to, from 1.
    private(set) var line = 1
    /// The number of bytes of the chunk that are left.
    var left: Int { chunk.endIndex - next }
    /// What all of the capture was in: gzip, UTF-16.
    private(set) var way: [String] = []
    /// The capture as far as it was read; `nil` if that is more than ``keptLimit``.
    private(set) var kept: [UInt8]? = []

    /// The length of a capture that is short enough to be kept.
    private static let keptLimit = 1 << 20

    /// - Parameter read: returns the next bytes of the capture, and none at its end.
    init(_ budget: CaptureBudget, _ read: @escaping () -> [UInt8]) {
        self.read = read
        has(4)
        if Inflation.unpacks(chunk) {
            let packed = Inflation(chunk, budget, then: read)
            (self.read, chunk, isAtEnd, way) = ({ packed.next() ?? [] }, [], false, [Inflation.name])
            has(4)
        }
        if let recoder = UTF16Recoder(beginning: chunk) {
            self.recoder = recoder
            chunk = self.recoder?.recode(Array(chunk))[...] ?? []
            way.append(UTF16Recoder.name)
        }
        if has(3), chunk.prefix(3) == [0xEF, 0xBB, 0xBF] { next = 3 }
        kept = Array(chunk[next...])
    }

    /// Reads a text that is in memory, and in UTF-8.
    ///
    /// - Parameter line: the line on which it begins.
    init(_ text: ArraySlice<UInt8>, line: Int = 1) {
        (read, chunk, next, isAtEnd, kept, self.line) = ({ [] }, text, text.startIndex, true, nil, line)
    }

    /// The next byte; `nil` at the end.
    var peek: UInt8? { next < chunk.endIndex || has(1) ? chunk[next] : nil }

    /// Whether at least `count` bytes are left, which must be few. It reads on if the chunk has fewer.
    @discardableResult
    func has(_ count: Int) -> Bool {
        while left < count, !isAtEnd {
            let packed = read()
            isAtEnd = packed.isEmpty
            let more = recoder?.recode(packed) ?? packed
            kept? += more
            if let count = kept?.count, count > Self.keptLimit { kept = nil }
            chunk = (chunk[next...] + more)[...]
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
