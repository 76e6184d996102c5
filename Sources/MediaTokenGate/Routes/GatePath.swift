internal import MediaToken

/// A path that means the same to everybody: to the proxy that serves it, to us, and to a cache in between.
///
/// A path that two programs could read in two ways (`/open/../live`, `/open/%2e%2e/live`, `/open%2flive`, `//live`, and what
/// a second decoding would make such a path) is none. Whoever may see `/open` would else be let into `/live`.
struct GatePath: Sendable {
    private static let segmentLimit = 256

    /// Percent-decoded once.
    let segments: [String]

    /// Decoded, from its first slash on, without one at its end.
    var text: String { "/" + segments.joined(separator: "/") }

    /// Reads the path of a target; a query behind it does not count. `nil` where it could be read in two ways.
    init?(_ target: String) {
        // An array is gone through several times as fast as a text.
        self.init(Array(target.utf8)[...])
    }

    /// The same of a target's bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        // A target is visible ASCII, and has no fragment (RFC 9112, 3.2). What is sent all the same, some cut off or repair.
        let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        guard isPlain, path.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        segments.reserveCapacity(16)
        var rest = path.dropFirst()
        // A slash at the end names what lies below.
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "/") }
            guard segments.count < Self.segmentLimit, let segment = Self.segment(part) else { return nil }
            segments.append(segment)
            rest = rest[part.endIndex...].dropFirst()
        }
        self.segments = segments
    }

    /// `nil` for one that could be read in two ways.
    private static func segment(_ part: ArraySlice<UInt8>) -> String? {
        if isOrdinary(part) { return String(decoding: part, as: UTF8.self) }
        guard let segment = String(percentEncoded: part), isPlain(segment) else { return nil }
        return segment
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
        return isPlain && !holdsEscape(segment.utf8) && !segment.holdsReplacement && !LenientPath.bare(segment).isEmpty
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
}
