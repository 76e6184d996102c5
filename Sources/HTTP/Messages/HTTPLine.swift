/// Finds lines of a request's head, and demands that no two programs see their ends at different places (RFC 9112,
/// 2.2).
enum HTTPLine {
    enum End {
        /// The line's end has not come. The search can go on at this position.
        case unfinished(Int)
        /// The line ends before this position, at which its CR and LF lie.
        case ends(Int)
        /// The line has this control character, which is a CR without an LF, an LF without a CR, or another one.
        case broken(UInt8)
    }

    /// Looks for the end of a line.
    ///
    /// - Parameter position: Where the search begins; everything before it has been searched.
    static func end(in bytes: UnsafeBufferPointer<UInt8>, from position: Int) -> End {
        var position = position
        while let control = firstControl(in: bytes, from: position) {
            switch bytes[control] {
            case UInt8(ascii: "\t"): position = control + 1
            case UInt8(ascii: "\r"):
                guard control + 1 < bytes.count else { return .unfinished(control) }
                return bytes[control + 1] == UInt8(ascii: "\n") ? .ends(control) : .broken(0x0D)
            default: return .broken(bytes[control])
            }
        }
        return .unfinished(bytes.count)
    }

    /// The position of the first byte that is a control character of ASCII; `nil` if there is none.
    static func firstControl(in bytes: UnsafeBufferPointer<UInt8>, from position: Int) -> Int? {
        let raw = UnsafeRawBufferPointer(bytes)
        var position = position
        while position + 8 <= raw.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            // The lowest bit that is set in either lies in the first such byte: a borrow reaches only bytes above it.
            let below20 = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
            let difference = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let is7F = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            let found = (below20 | is7F)
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < raw.count {
            if raw[position] < 0x20 || raw[position] == 0x7F { return position }
            position += 1
        }
        return nil
    }
}
