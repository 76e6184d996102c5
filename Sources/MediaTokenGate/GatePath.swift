internal import MediaToken

/// A path that means the same to everybody: to the proxy that serves it, to us, and to a cache in between.
///
/// A path that two programs could read in two ways (`/open/../live`, `/open/%2e%2e/live`, `/open%2flive`, `//live`, and what
/// a second decoding would make such a path) is none. Whoever may see `/open` would else be let into `/live`.
struct GatePath: Equatable, Sendable {
    private static let segmentLimit = 256

    /// Percent-decoded once.
    let segments: [String]
    /// As the most lenient of servers takes them: without parameters (`;…`, as Java's servers have them), without what
    /// looks like a query or a fragment once it is decoded, without the spaces around it and the dots at its end that some
    /// file systems drop, and in lower case. `nil` for one with letters beyond ASCII: what servers fold and normalise, and
    /// how, nobody knows.
    private let lenientSegments: [String?]

    /// Reads the path of a target; a query behind it does not count. `nil` where it could be read in two ways.
    init?(_ target: String) {
        // An array is gone through several times as fast as a text.
        let bytes = Array(target.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        // A target is visible ASCII, and has no fragment (RFC 9112, 3.2). What is sent all the same, some cut off or repair.
        let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        guard isPlain, path.first == UInt8(ascii: "/") else { return nil }
        var parts = path.dropFirst().split(
            separator: UInt8(ascii: "/"), maxSplits: Self.segmentLimit + 1, omittingEmptySubsequences: false)
        // A slash at the end names what lies below.
        if parts.last?.isEmpty ?? true { parts.removeLast() }
        guard parts.count <= Self.segmentLimit else { return nil }
        var (segments, lenientSegments) = ([String](), [String?]())
        for part in parts {
            if Self.isOrdinary(part) {
                let segment = String(decoding: part, as: UTF8.self)
                segments.append(segment)
                lenientSegments.append(segment.lowercased())
            } else {
                guard let segment = String(percentEncoded: part), Self.isPlain(segment) else { return nil }
                segments.append(segment)
                lenientSegments.append(segment.utf8.allSatisfy { $0 < 0x80 } ? Self.lenient(segment) : nil)
            }
        }
        (self.segments, self.lenientSegments) = (segments, lenientSegments)
    }

    /// Whether it is all letters, digits, `-`, `_` and dots before others: nothing to decode, nothing that anybody reads in
    /// another way but by its case. Nearly all segments of streams are.
    private static func isOrdinary(_ part: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        guard let last = part.last, last != dot else { return false }
        return part.allSatisfy {
            $0.isLetterOrDigit || $0 == dot || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
    }

    /// Whether no server takes it for several, for a step up, or for nothing.
    private static func isPlain(_ segment: String) -> Bool {
        let isPlain = segment.utf8.allSatisfy {
            $0 > 0x1F && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        // The replacement character stands for bytes that were no UTF-8, and might be a slash to somebody.
        return isPlain && !holdsEscape(segment.utf8) && !segment.unicodeScalars.contains("\u{FFFD}")
            && !lenient(segment).isEmpty
    }

    private static func lenient(_ segment: String) -> String {
        let (dot, space) = (UInt8(ascii: "."), UInt8(ascii: " "))
        var name = segment.utf8.prefix { !isEnd($0) }.drop { $0 == space }
        while let last = name.last, last == dot || last == space { name.removeLast() }
        return Substring(name).lowercased()
    }

    /// Of a name, for some servers: what follows is a parameter, a query or a fragment.
    private static func isEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Whether a second decoding would find something.
    private static func holdsEscape(_ text: String.UTF8View) -> Bool {
        let isHexadecimal = { (byte: UInt8) in Character(Unicode.Scalar(byte)).isHexDigit }
        return text.indices.contains { index in
            guard text[index] == UInt8(ascii: "%") else { return false }
            let digits = text[index...].dropFirst().prefix(2)
            return digits.count == 2 && digits.allSatisfy(isHexadecimal)
        }
    }

    /// Whether this is `prefix`, or lies below it. Segments are compared byte by byte.
    func isWithin(_ prefix: GatePath) -> Bool {
        segments.count >= prefix.segments.count
            && zip(prefix.segments, segments).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    /// Whether some server might take it for one within `prefix`.
    func mayLieWithin(_ prefix: GatePath) -> Bool {
        segments.count >= prefix.segments.count
            && zip(prefix.lenientSegments, lenientSegments).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
    }
}
