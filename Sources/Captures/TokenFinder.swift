internal import TextEncodings

/// Finds what a capture holds: tokens of all kinds, playback grants and errors of Adobe Pass, in a text of any form: a HAR file,
/// a `curl` line, a log, a URL, a document, a hexdump.
///
/// It is for commands that examine captures, and never for a gate. It reads the capture once, holds a few pieces of it
/// in memory, and takes time in proportion to its length.
package struct TokenFinder {
    /// A part of a capture.
    package enum Part: Sendable {
        /// The findings of one document or one piece of text.
        case findings([Finding])
        /// One entry of a HAR file.
        case call(CapturedCall)

        package var findings: [Finding] {
            switch self {
            case .findings(let findings): findings
            case .call(let call): call.findings
            }
        }
    }

    /// The number of bytes of text that are searched at once.
    private let pieceSize: Int
    /// The number of bytes behind a piece that a token may reach into: a large one, each byte of which is escaped.
    private var overlap: Int { pieceSize / 4 }
    private static let context = 80

    package init(pieceSize: Int = 8 << 20) {
        self.pieceSize = pieceSize
    }

    /// Searches a capture from front to back.
    ///
    /// - Parameters:
    ///   - read: returns the next bytes of the capture, and none at its end.
    ///   - use: takes each part as soon as it was read.
    package func search(_ read: @escaping () -> [UInt8], _ use: (Part) -> Void) {
        let reader = CaptureReader(read)
        let place = CaptureSearch.Place(way: reader.way, line: 1, lines: .same)
        var (waiting, isFound) = ([Part](), false)
        func take(_ part: Part) {
            waiting.append(part)
            isFound = isFound || reader.small == nil || part.findings.contains(where: \.isPlainToken)
            guard isFound else { return }
            waiting.forEach(use)
            waiting = []
        }
        searchOnce(reader, at: place, take)
        let found = waiting.flatMap(\.findings)
        if !isFound, found.isEmpty || found.contains(where: { !$0.isPlain }), let small = reader.small {
            let unwrapped = CaptureSearch.findings(unwrapping: small[...], at: place)
            if !unwrapped.isEmpty {
                waiting = waiting.filter { if case .call = $0 { true } else { false } } + [.findings(unwrapped)]
            }
        }
        waiting.forEach(use)
    }

    private func searchOnce(_ reader: CaptureReader, at place: CaptureSearch.Place, _ use: (Part) -> Void) {
        while true {
            while reader.peek?.isASCIIWhiteSpace == true { reader.skip() }
            guard reader.peek == UInt8(ascii: "{") || reader.peek == UInt8(ascii: "[") else { break }
            guard searchDocument(reader, at: place, use) else { break }
        }
        searchText(reader, at: place, use)
    }

    /// Searches a capture that is in memory.
    package func search(_ capture: [UInt8], _ use: (Part) -> Void) {
        var unread = [capture]
        search({ unread.popLast() ?? [] }, use)
    }

    /// Searches one JSON document.
    ///
    /// - Returns: Whether it was one to its end.
    private func searchDocument(_ reader: CaptureReader, at place: CaptureSearch.Place, _ use: (Part) -> Void) -> Bool {
        withoutActuallyEscaping(use) { use in
            let document = CapturedDocument(at: place, use)
            var walker = JSONWalker(reader, limit: pieceSize, document.take)
            let isWhole = walker.walk()
            document.finish()
            return isWhole
        }
    }

    /// Searches what is left as text, piece by piece.
    private func searchText(_ reader: CaptureReader, at place: CaptureSearch.Place, _ use: (Part) -> Void) {
        let search = CaptureSearch()
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
            if !findings.isEmpty { use(.findings(findings)) }
            place.line += piece[begin..<position].count { $0 == UInt8(ascii: "\n") }
            let dropped = max(0, position - Self.context)
            piece.removeFirst(dropped)
            begin = position - dropped
        }
    }
}
