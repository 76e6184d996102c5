package import Basics

/// The form in which the log has the reason for an answer, which may quote what a client or a caller sent.
///
/// Whatever the text is, each of its words is cut after ``longestWord`` bytes, and each value between quotation marks
/// after ``longestValue``. A token begins with a tag of 15 bytes and a signature of 172 or more without a space, and
/// any encoding of it with as much; a session GUID stands behind these. So neither gets into the log, in whichever
/// field a token was sent and whichever message quotes that field.
package struct LogReason {
    private static let longestWord = 20
    private static let longestValue = 32
    private static let longest = 512
    private static let quote = UInt8(ascii: "'")
    private static let space = UInt8(ascii: " ")

    /// The bytes of the current word, and of the current value, so far.
    private var (word, value) = (0, 0)
    private var isQuoted = false
    /// Whether the last byte was written, so that no character is cut in two.
    private var isKept = true

    /// Writes the reason in its short form.
    package static func write(_ text: UnsafeRawBufferPointer, to short: inout ByteWriter) {
        var reason = LogReason()
        for place in text.indices { reason.add(text, place, to: &short) }
    }

    private mutating func add(_ text: UnsafeRawBufferPointer, _ place: Int, to short: inout ByteWriter) {
        let byte = text[place]
        let isContinued = byte & 0xC0 == 0x80
        if byte == Self.quote, isQuoted ? Self.closes(text, place) : Self.opens(text, place) {
            (isQuoted, word, value) = (!isQuoted, 0, 0)
        } else {
            word = byte == Self.space ? 0 : word + 1
            value += 1
        }
        let fits =
            word <= Self.longestWord && (!isQuoted || value <= Self.longestValue) && short.count < Self.longest
        if isContinued ? isKept : fits {
            short.write(byte)
            isKept = true
        } else if isKept {
            short.write("…")
            isKept = false
        }
    }

    /// Whether the quotation mark at a place begins a value.
    private static func opens(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        place == 0 || text[place - 1] == space || text[place - 1] == UInt8(ascii: "(")
    }

    /// Whether the quotation mark at a place ends a value.
    private static func closes(_ text: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        guard place + 1 < text.count else { return true }
        // The last one is the first byte of "…".
        return [space, UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: ")"), 0xE2]
            .contains(text[place + 1])
    }
}
