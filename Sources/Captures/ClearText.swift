internal import Basics

/// A token in clear text within another text.
struct ClearText {
    /// What the token may be, the likeliest first; empty for a tag that a text only mentions.
    let candidates: [ArraySlice<UInt8>]
    /// Whether the token was found up to its last tag.
    let isWhole: Bool
    /// The position in the other text up to which the token goes.
    let end: Int

    private static let marker = Array("signatureInfo".utf8)
    private static let limit = 2 * 65_536
    private static let endLimit = 3
    private static let shortest = 24
    private static let closingTags = [
        "</authToken>", "</shortAuthorizationToken>", "</simpleAuthenticationToken>", "</simpleAuthorizationToken>",
    ].map { Array($0.utf8) }

    /// - Parameter text: Begins with the token's `<`.
    init(in text: ArraySlice<UInt8>) {
        let text = text.prefix(Self.limit)
        let markers = Self.markers(in: text)
        // A token has its own marker twice; the third one is that of a next token.
        var region = markers.count == 3 ? text[..<(markers[2] - 1)] : text
        let ends = Self.ends(of: region)
        guard ends.isEmpty else {
            // The end that the strict reader can read is the right one; the resource may hold what looks like another.
            (candidates, isWhole, end) = (ends.map { region[..<$0] }, true, ends[0])
            return
        }
        isWhole = false
        // The second marker is that of a next token too, unless it stands before the token's first element.
        if markers.count > 1, Self.next(after: markers[1], in: text, skipping: "> \r\n\\=") != UInt8(ascii: "<") {
            region = text[..<(markers[1] - 1)]
        }
        region = region.prefix { !"\"\n".utf8.contains($0) }
        // A signature begins with a digit of Base64. Fewer bytes than this are a tag that a text mentions.
        let first = Self.next(after: text.startIndex + 1, in: region, skipping: ">\r\\=")
        let isToken = first.map { $0.isLetterOrDigit || "+/".utf8.contains($0) } ?? false
        (candidates, end) =
            isToken && region.count >= Self.shortest ? ([region], region.endIndex) : ([], text.startIndex + 1)
    }

    /// The positions of the first three markers.
    static func markers(in text: ArraySlice<UInt8>) -> [Int] {
        var (rest, markers) = (text, [Int]())
        while markers.count < 3, let found = rest.firstRange(of: marker) {
            markers.append(found.lowerBound)
            rest = rest[found.upperBound...]
        }
        return markers
    }

    /// The first byte after a marker that is none of `skipped`; `nil` at the end.
    private static func next(after marker: Int, in text: ArraySlice<UInt8>, skipping skipped: String) -> UInt8? {
        text[marker...].dropFirst(Self.marker.count).first { !skipped.utf8.contains($0) }
    }

    /// The positions after what may be the token's last tag.
    private static func ends(of text: ArraySlice<UInt8>) -> [Int] {
        var (ends, rest) = ([Int](), text)
        while ends.count < endLimit, let close = rest.position(of: UInt8(ascii: ">")) {
            let read = text[...close]
            if closingTags.contains(where: { read.suffix($0.count).elementsEqual($0) }) { ends.append(close + 1) }
            rest = text[(close + 1)...]
        }
        return ends
    }

    /// Whether a token that has the form of one has something in it that may be an escape or damage.
    static func isDoubtful(_ token: ArraySlice<UInt8>) -> Bool {
        let isDamaged = zip(token, token.dropFirst()).contains { byte, next in
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "&"), 0x0A, 0x0D, 0x1B, 0x80...: true
            case UInt8(ascii: "\""), UInt8(ascii: "'"): next == byte
            case UInt8(ascii: ">"): next.isBlank
            case UInt8(ascii: "%"), UInt8(ascii: "#"): next.isLetterOrDigit
            default: false
            }
        }
        return isDamaged || Formatting.hasTags(token)
    }

    /// Digits by which a token is known again where the rest of it was damaged: the first of its signature. There are
    /// none in the end of a token alone.
    static func identity(of token: ArraySlice<UInt8>) -> [UInt8] {
        let signature = token.dropFirst(marker.count + 2).prefix { $0 != UInt8(ascii: "<") }
        return Array(signature.lazy.filter(\.isLetterOrDigit).prefix(12))
    }
}
