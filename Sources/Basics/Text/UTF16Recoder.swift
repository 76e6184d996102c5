/// Recodes UTF-16 to UTF-8, chunk by chunk. Half of a surrogate pair becomes the replacement character.
package struct UTF16Recoder {
    package static let name = "UTF-16"
    private let isBigEndian: Bool
    /// The bytes of a code unit, or of a pair, whose end the next chunk brings.
    private var rest: [UInt8] = []

    /// Recognises UTF-16 by its byte order mark, or by ASCII characters whose other byte is zero.
    package init?(beginning: ArraySlice<UInt8>) {
        switch Array(beginning.prefix(4)) {
        case let bytes where bytes.starts(with: [0xFE, 0xFF]): isBigEndian = true
        case let bytes where bytes.starts(with: [0xFF, 0xFE]): isBigEndian = false
        case let bytes where bytes.count == 4 && bytes[0] == 0 && bytes[2] == 0 && bytes[1] > 0: isBigEndian = true
        case let bytes where bytes.count == 4 && bytes[1] == 0 && bytes[3] == 0 && bytes[0] > 0: isBigEndian = false
        default: return nil
        }
    }

    /// Recodes a chunk; an empty one ends the text.
    package mutating func recode(_ chunk: [UInt8]) -> [UInt8] {
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
