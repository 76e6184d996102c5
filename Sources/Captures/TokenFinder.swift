internal import TextEncodings

/// Finds what a capture holds: tokens of all kinds, playback grants and errors of Adobe Pass, in a text of any form: a HAR file,
/// a `curl` line, a log, a URL, a document, a hexdump.
///
/// It is for commands that examine captures, and never for a gate. A capture is searched in up to three stages:
///
/// 1. *Documents.* ``JSONWalker`` reports each value of a JSON document. ``CapturedDocument`` assigns it to its HAR entry
///    (`HAR › entry 12`), and ``CaptureSearch`` searches it.
/// 2. *Text.* ``CaptureSearch`` looks for runs of digits and letters (``DigitRun``) that may begin a token. If such a run is encoded
///    (``EncodedText``) or escaped (``Escape``), it is decoded, that is added to the way (`› Base64`), and the result is searched
///    again, up to ten layers deep. At a clear `<signatureInfo`, ``ClearText`` takes the token. If line breaks may have been put into
///    it, there are several readings, of which the caller picks the one whose signature fits.
/// 3. *The whole capture.* If it is short and no complete token was found, ``CaptureRetry`` takes off all of it what shows nowhere
///    at a token: a dump, the prefixes of a log. A value inside a HAR entry is not tried again.
///
/// A large capture is read once, in pieces. gzip and ZIP are unpacked on the way. All stages pay from one ``CaptureBudget``, so that the
/// time is in proportion to the capture's length.
package struct TokenFinder {
    /// A part of a capture.
    package enum Part: Sendable {
        /// The findings of one document or one piece of text.
        case findings([Finding])
        /// One entry of a HAR file.
        case call(CapturedCall)
        /// What a capture lacks, or cannot be searched, and why.
        case unread(String)

        package var findings: [Finding] {
            switch self {
            case .findings(let findings): findings
            case .call(let call): call.findings
            case .unread: []
            }
        }

        /// Whether a backend may have consumed the tokens of this part, as ``CapturedCall/isDecided`` says of a call.
        package var isDecided: Bool {
            if case .call(let call) = self { call.isDecided } else { true }
        }
    }

    /// The number of bytes of text that are searched at once.
    private let pieceSize: Int
    /// The number of bytes behind a piece that a token may reach into: a large one, each byte of which is escaped.
    private var overlap: Int { pieceSize / 4 }
    /// The number of bytes before a piece that are kept: a playback grant is found by a word at its end.
    private var context: Int { min(GrantText.limit, pieceSize / 8) }
    /// The number of archives within archives.
    private static let archiveLimit = 3

    package init(pieceSize: Int = 8 << 20) {
        self.pieceSize = pieceSize
    }

    /// Searches a capture from front to back.
    ///
    /// - Parameters:
    ///   - read: returns the next bytes of the capture, and none at its end.
    ///   - use: takes each part as soon as it was read.
    package func search(_ read: @escaping () -> [UInt8], _ use: (Part) -> Void) {
        let budget = CaptureBudget()
        func next() -> [UInt8] {
            let bytes = read()
            budget.add(read: bytes.count)
            return bytes
        }
        search(next, inside: [], budget, use)
        if let excess = budget.excess { use(.unread("not all of it was searched: \(excess)")) }
        if let excess = budget.ofRetries.excess {
            use(.unread("not all of it was searched for tokens in dumps and wrapped lines: \(excess)"))
        }
    }

    private func search(
        _ read: @escaping () -> [UInt8], inside way: [String], _ budget: CaptureBudget, _ use: (Part) -> Void
    ) {
        let reader = CaptureReader(budget, read)
        let place = CaptureSearch.Place(way: { way + reader.way }, line: 1, lines: .ofCapture)
        if way.count < 2 * Self.archiveLimit, reader.ahead(ZIPArchive.magic.count).elementsEqual(ZIPArchive.magic) {
            return searchArchive(reader, at: place, budget, use)
        }
        var (waiting, isFound) = ([Part](), false)
        func take(_ part: Part) {
            waiting.append(part)
            isFound = isFound || reader.kept == nil || part.findings.contains(where: \.isPlainToken)
            guard isFound else { return }
            waiting.forEach(use)
            waiting = []
        }
        searchOnce(reader, at: place, budget, take)
        if !isFound, let kept = reader.kept {
            let retry = CaptureRetry(budget: budget.ofRetries)
            waiting = Self.parts(waiting, with: retry.findings(in: kept[...], at: place))
        }
        waiting.forEach(use)
    }

    /// Searches each file of a ZIP archive as a capture of its own.
    private func searchArchive(
        _ reader: CaptureReader, at place: CaptureSearch.Place, _ budget: CaptureBudget, _ use: (Part) -> Void
    ) {
        let archive = ZIPArchive(budget) { Array(reader.take(pieceSize)) }
        archive.unpack { name, read in
            search(read, inside: place.way() + [ZIPArchive.name, name], budget, use)
        } skip: { name, reason in
            use(.unread("\(name) in the ZIP archive was not searched: \(reason)"))
        }
    }

    /// Merges the tokens that ``CaptureRetry`` found in the whole capture with the incomplete ones in the parts, the first with the first
    /// and so on: both are readings of one token.
    private static func parts(_ parts: [Part], with tokens: [Finding]) -> [Part] {
        var tokens = tokens.filter { if case .token = $0.content { true } else { false } }[...]
        guard !tokens.isEmpty else { return parts }
        let read = parts.map { part in
            guard case .findings(let findings) = part else { return part }
            return .findings(
                findings.compactMap { finding in
                    guard case .token = finding.content else { return finding }
                    guard let token = tokens.popFirst() else { return finding.isWrapped ? finding : nil }
                    return token.merging(finding)
                })
        }
        return read + (tokens.isEmpty ? [] : [.findings(Array(tokens))])
    }

    private func searchOnce(
        _ reader: CaptureReader, at place: CaptureSearch.Place, _ budget: CaptureBudget, _ use: (Part) -> Void
    ) {
        while true {
            while reader.peek?.isASCIIWhiteSpace == true { reader.skip() }
            guard reader.peek == UInt8(ascii: "{") || reader.peek == UInt8(ascii: "[") else { break }
            guard searchDocument(reader, at: place, budget, use) else { break }
        }
        searchText(reader, at: place, budget, use)
    }

    /// Searches a capture that is in memory.
    package func search(_ capture: [UInt8], _ use: (Part) -> Void) {
        var unread = [capture]
        search({ unread.popLast() ?? [] }, use)
    }

    /// Searches one JSON document.
    ///
    /// - Returns: Whether it was one to its end.
    private func searchDocument(
        _ reader: CaptureReader, at place: CaptureSearch.Place, _ budget: CaptureBudget, _ use: (Part) -> Void
    ) -> Bool {
        withoutActuallyEscaping(use) { use in
            let document = CapturedDocument(at: place, budget, use)
            var walker = JSONWalker(reader, limit: pieceSize, document.take)
            let isWhole = walker.walk()
            let entry = document.number
            document.finish()
            if !isWhole, entry > 0, reader.peek == nil {
                use(.unread("the HAR file ends within entry \(entry): it was cut, or is still being written"))
            }
            return isWhole
        }
    }

    /// Searches what is left as text, piece by piece.
    private func searchText(
        _ reader: CaptureReader, at place: CaptureSearch.Place, _ budget: CaptureBudget, _ use: (Part) -> Void
    ) {
        let search = CaptureSearch(budget)
        var (piece, begin, place) = ([UInt8](), 0, place)
        place.line = reader.line
        while reader.peek != nil || begin < piece.count {
            while piece.count < pieceSize {
                let more = reader.take(pieceSize - piece.count)
                guard !more.isEmpty else { break }
                piece += more
            }
            let end = reader.peek == nil ? piece.count : piece.count - overlap
            let position = search.searchText(piece[...], from: begin, until: end, at: place)
            let findings = search.takeAll().findings
            for reason in search.takeUnread() { use(.unread(reason)) }
            if !findings.isEmpty { use(.findings(findings)) }
            place.line += piece[begin..<position].count { $0 == UInt8(ascii: "\n") }
            let dropped = max(0, position - context)
            piece.removeFirst(dropped)
            begin = position - dropped
        }
    }
}
