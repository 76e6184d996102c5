internal import TextEncodings

/// A token in clear text within another text, which may have wrapped it or escaped some of its characters.
struct ClearText {
    /// What the token may be, the likeliest first; empty for a tag that a text only mentions.
    let readings: [Finding.Reading]
    /// The position in the other text up to which the token goes.
    let end: Int
    let extent: Finding.Extent

    private static let marker = Array("signatureInfo".utf8)
    private static let limit = 2 * 65_536
    private static let endLimit = 3
    private static let closingTags = [
        "/authToken>", "/shortAuthorizationToken>", "/simpleAuthenticationToken>", "/simpleAuthorizationToken>",
    ].map { Array($0.utf8) }

    /// - Parameter text: begins with the token's `<`.
    init(in text: ArraySlice<UInt8>) {
        let text = text.prefix(Self.limit)
        let markers = Self.markers(in: text)
        // A token has its own marker twice; the third one is that of a next token.
        var region = markers.count == 3 ? text[..<(markers[2] - 1)] : text
        let ends = Self.ends(of: region)
        guard ends.isEmpty else {
            // The end that the strict reader can read is the right one; the resource may hold what looks like another.
            (readings, end) = (ends.flatMap { Self.readings(of: region[..<$0]) }, ends[0])
            let isOnOneLine = !region[..<end].contains { $0 == 0x0A || $0 == 0x0D }
            let hasSignature = readings.contains { Self.hasSignature($0.clearText) }
            extent = !isOnOneLine ? .wrapped : hasSignature ? .plain : .headless
            return
        }
        extent = .cut
        // The second marker is that of a next token too, unless it stands before the token's first element.
        if markers.count > 1, Self.next(after: markers[1], in: text, skipping: "> \r\n\\=") != UInt8(ascii: "<") {
            region = text[..<(markers[1] - 1)]
        }
        region = region.prefix { !"\"\n".utf8.contains($0) }
        // A signature begins with a digit of Base64.
        let first = Self.next(after: text.startIndex + 1, in: region, skipping: ">\r\\=")
        let isToken = first.map { $0.isLetterOrDigit || "+/".utf8.contains($0) } ?? false
        (readings, end) = isToken ? (Self.readings(of: region), region.endIndex) : ([], text.startIndex + 1)
    }

    /// The positions of the first three markers.
    static func markers(in text: ArraySlice<UInt8>) -> [Int] {
        var (rest, markers) = (text, [Int]())
        while markers.count < 3, let letter = rest.position(of: marker[0]) {
            rest = rest[letter...]
            if rest.starts(with: marker) { markers.append(letter) }
            rest = rest.dropFirst()
        }
        return markers
    }

    /// The first byte behind a marker that is none of `skipped`; `nil` at the end.
    private static func next(after marker: Int, in text: ArraySlice<UInt8>, skipping skipped: String) -> UInt8? {
        text[marker...].dropFirst(Self.marker.count).first { !skipped.utf8.contains($0) }
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

    private static let shortestSignature = 64

    /// Whether a token has digits of Base64 for its signature.
    private static func hasSignature(_ token: [UInt8]) -> Bool {
        let signature = token.dropFirst(marker.count + 2).prefix { $0 != UInt8(ascii: "<") }
        return signature.count >= shortestSignature
            && signature.allSatisfy { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
    }

    private static func readings(of text: ArraySlice<UInt8>) -> [Finding.Reading] {
        var readings = [Finding.Reading(layers: [], clearText: Array(text))]
        func add(_ layers: [String], _ clearText: [UInt8]) {
            guard !readings.contains(where: { $0.clearText == clearText }) else { return }
            readings.append(Finding.Reading(layers: layers, clearText: clearText))
        }
        let quotes = text.replacing("\"") { ([0x22], $0.starts(with: "\"\"".utf8) ? 2 : 1) }[...]
            .replacing("'") { ([0x27], $0.starts(with: "''".utf8) ? 2 : 1) }
        for (layers, text) in [([], text), (["doubled quotes"], quotes[...])] {
            add(layers, Array(text))
            let once = Escape.backslashes.decode(text)
            add(layers + [Escape.backslashes.rawValue], once)
            add(layers + [Escape.backslashes.rawValue, "twice"], Escape.backslashes.decode(once[...]))
        }
        for wrapping in [Wrapping.formatting, .shell] { add([wrapping.rawValue], wrapping.remove(from: text)) }
        guard text.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return readings }
        add([Escape.quotedPrintable.rawValue], Escape.quotedPrintable.decode(text))
        for wrapping in [Wrapping.wraps, .prefixes, .wrapsAtBlanks] {
            add([wrapping.rawValue], wrapping.remove(from: text))
        }
        return readings
    }
}
