internal import TextEncodings

/// A token in clear text within another text, which may have wrapped it or escaped some of its characters.
struct ClearText {
    /// What the token may be, the likeliest first.
    let readings: [Finding.Reading]
    /// The position in the other text up to which the token goes.
    let end: Int
    /// Whether its last tag was found.
    let isWhole: Bool

    private static let marker = Array("signatureInfo".utf8)
    private static let limit = 2 * 65_536
    private static let endLimit = 3
    private static let closingTags = [
        "/authToken>", "/shortAuthorizationToken>", "/simpleAuthenticationToken>", "/simpleAuthorizationToken>",
    ].map { Array($0.utf8) }

    /// - Parameter text: begins with the token's `<`.
    init(in text: ArraySlice<UInt8>) {
        let region = Self.region(of: text.prefix(Self.limit))
        let ends = Self.ends(of: region)
        let cuts = ends.isEmpty ? [region.prefix { !"\"\n".utf8.contains($0) }.endIndex] : ends
        let texts = cuts.map { region[..<$0] }
        // The end that the strict reader can read is the right one; the resource may hold what looks like another.
        readings = texts.flatMap(Self.readings)
        (end, isWhole) = (cuts[0], !ends.isEmpty)
    }

    /// The bytes before the marker of a next token. A token has its own marker twice.
    private static func region(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var (rest, count) = (text, 0)
        while let letter = rest.position(of: marker[0]) {
            rest = rest[letter...]
            let isMarker = rest.starts(with: marker)
            count += isMarker ? 1 : 0
            if count == 3 { return text[..<(letter - 1)] }
            rest = rest.dropFirst(isMarker ? marker.count : 1)
        }
        return text
    }

    /// The positions behind what may be the token's last tag, whatever a line break or an escape put into it.
    private static func ends(of text: ArraySlice<UInt8>) -> [Int] {
        var (ends, significant) = ([Int](), [UInt8]())
        for (position, byte) in zip(text.indices, text) where !"\r\n\\".utf8.contains(byte) {
            significant.append(byte)
            guard byte == UInt8(ascii: ">") else { continue }
            guard closingTags.contains(where: { significant.suffix($0.count).elementsEqual($0) }) else { continue }
            ends.append(position + 1)
            if ends.count == endLimit { break }
        }
        return ends
    }

    private static func readings(of text: ArraySlice<UInt8>) -> [Finding.Reading] {
        let clear = Finding.Reading(layers: [], clearText: Array(text))
        let isWrapped = text.contains(0x0A)
        var changed: [Finding.Reading] = []
        func add(_ layer: Layer, if isPossible: Bool) {
            guard isPossible else { return }
            changed.append(Finding.Reading(layers: [layer.rawValue], clearText: layer.decode(text)))
        }
        add(.backslashes, if: text.contains(UInt8(ascii: "\\")))
        add(.quotedPrintable, if: isWrapped && text.contains(UInt8(ascii: "=")))
        add(.wraps, if: isWrapped)
        let quotes = text.replacing("\"") { $0.starts(with: "\"\"".utf8) ? ([0x22], 2) : ([0x22], 1) }
        if quotes.count < text.count { changed.append(Finding.Reading(layers: ["doubled quotes"], clearText: quotes)) }
        return [clear] + changed
    }
}
