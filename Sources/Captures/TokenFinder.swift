internal import Basics

/// Finds what a capture holds: tokens of all kinds, playback grants and errors of Adobe Pass, in a text of any form: a
/// HAR file, a `curl` line, a log, a URL, a document.
///
/// It is for commands that examine captures, and never for a gate:
///
/// 1. *Pieces.* A capture is read once, front to back. ``JSONWalker`` reports each value of a JSON document, and
///    ``CapturedDocument`` assigns it to its HAR entry (`HAR › entry 12`). Text is taken in large pieces. gzip, ZIP and
///    UTF-16 are unpacked on the way.
/// 2. *Texts.* ``CaptureSearch`` looks for runs of digits and letters (``DigitRun``) that may begin a token. What is
///    encoded within a text (``EncodedText``) is decoded and searched in turn, up to ten layers deep. At a clear
///    `<signatureInfo`, ``ClearText`` takes the token.
/// 3. *Decoders.* Where a token shows and cannot be read, each ``Decoder`` takes something off all of the text around
///    it, breadth first, until it can: an escape, the prefixes of a log, line breaks. Of what is found then on one line
///    with the same signature, the one that reads best counts.
///
/// All of it pays from one ``CaptureBudget``, so that the time is in proportion to the capture's length.
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
    /// The number of bytes after a piece that a token may reach into, for example a large one in which each byte is
    /// escaped.
    private var overlap: Int { pieceSize / 4 }
    /// The number of bytes before a piece that are kept: a playback grant is found by a word at its end.
    private var context: Int { min(GrantExtent.limit, pieceSize / 8) }
    /// The number of bytes that are searched of a capture of packets, and of other files that are read whole.
    private static let fileLimit = 1 << 28
    /// The number of archives within archives.
    private static let archiveLimit = 3

    /// Says how well a text can be read as a token.
    private let fit: (ArraySlice<UInt8>) -> TokenFit

    package init(pieceSize: Int = 8 << 20, fit: @escaping (ArraySlice<UInt8>) -> TokenFit) {
        (self.pieceSize, self.fit) = (pieceSize, fit)
    }

    /// Searches a capture from front to back.
    ///
    /// - Parameters:
    ///   - read: returns the next bytes of the capture, and none at its end.
    ///   - use: takes each part as soon as it was read.
    package func search(_ read: @escaping () -> [UInt8], _ use: @escaping (Part) -> Void) {
        let budget = CaptureBudget()
        func next() -> [UInt8] {
            let bytes = read()
            budget.add(read: bytes.count)
            return bytes
        }
        search(next, inside: [], CaptureSearch(budget, fit), use)
        if let excess = budget.excess { use(.unread("not all of it was searched: \(excess)")) }
        if let excess = budget.ofGuesses.excess {
            use(.unread("not all of it was searched for what may be put around or into a token: \(excess)"))
        }
    }

    /// Searches a capture that is in memory.
    package func search(_ capture: [UInt8], _ use: @escaping (Part) -> Void) {
        var unread = [capture]
        search({ unread.popLast() ?? [] }, use)
    }

    private func search(
        _ read: @escaping () -> [UInt8], inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        let reader = CaptureReader(search.budget, read)
        let inner = way + reader.way
        if way.count < 2 * Self.archiveLimit, reader.ahead(ZIPArchive.magic.count).elementsEqual(ZIPArchive.magic) {
            return searchArchive(reader, inside: inner, search, use)
        }
        if PacketCapture.begins(reader.ahead(4)) { return searchPackets(reader, inside: inner, search, use) }
        if Netstrings.begins(reader.ahead(Netstrings.head)) { return searchFlows(reader, inside: inner, search, use) }
        // A short capture is reported when all of it has been searched.
        var (waiting, isFound) = ([Part](), false)
        func take(_ part: Part) {
            waiting.append(part)
            isFound = isFound || reader.kept == nil || part.findings.contains(where: \.isSettled)
            guard isFound else { return }
            waiting.forEach(use)
            waiting = []
        }
        searchOnce(reader, inside: inner, search, take)
        // Nobody sent what a HAR file has outside of its calls.
        let hasCalls = waiting.contains { if case .call = $0 { true } else { false } }
        if !isFound, !hasCalls, let kept = reader.kept {
            waiting = Self.parts(waiting, with: search.guess(kept[...]), in: kept[...], inside: inner)
        }
        waiting.forEach(use)
    }

    /// Searches each file of a ZIP archive as a capture of its own.
    private func searchArchive(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        let archive = ZIPArchive(search.budget) { Array(reader.take(pieceSize)) }
        var requests: [Substring: [UInt8]] = [:]
        func searchFile(_ name: String, _ bytes: [UInt8], _ read: @escaping () -> [UInt8] = { [] }) {
            var first = bytes
            self.search(
                { first.isEmpty ? read() : exchange(&first, with: []) }, inside: way + [ZIPArchive.name, name], search,
                use)
        }
        archive.unpack { name, read in
            // Fiddler has a request and its response in two files.
            if name.hasSuffix(Self.requestEnding) {
                var request: [UInt8] = []
                while request.count < pieceSize, case let more = read(), !more.isEmpty { request += more }
                guard request.count < pieceSize else { return searchFile(name, request, read) }
                requests[name.dropLast(Self.requestEnding.utf8.count)] = request + [0x0A]
            } else if name.hasSuffix(Self.answerEnding) {
                let request = requests.removeValue(forKey: name.dropLast(Self.answerEnding.utf8.count))
                searchFile(name, request ?? [], read)
            } else {
                searchFile(name, [], read)
            }
        } skip: { name, reason in
            use(.unread("\(name) in the ZIP archive was not searched: \(reason)"))
        }
        for (name, request) in requests.sorted(by: { $0.key < $1.key }) {
            searchFile(name + Self.requestEnding, request)
        }
    }

    private static let (requestEnding, answerEnding) = ("_c.txt", "_s.txt")

    /// Searches each connection of a capture of packets as a capture of its own; if none has anything, all of it as
    /// text.
    private func searchPackets(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        let file = readFile(reader, use)
        var isFound = false
        let connections = PacketCapture(file[...]).connections.filter { !$0.isEmpty }
        for (index, connection) in connections.enumerated() {
            var unread = [connection]
            let way = way + [PacketCapture.name, "connection \(index + 1)"]
            self.search({ unread.popLast() ?? [] }, inside: way, search) { part in
                isFound = isFound || !part.findings.isEmpty
                use(part)
            }
        }
        if !isFound { searchText(CaptureReader(file[...]), inside: way, search, use) }
    }

    /// Searches mitmproxy's flows as calls, and the rest of the file as text.
    private func searchFlows(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        let file = readFile(reader, use)
        var flows = Netstrings(file[...])
        let count = withDocument(search, inside: way, archive: SavedCalls.mitmproxy, use) { document in
            let calls = SavedCalls(search.budget, document.take)
            flows.walk(calls.add)
            calls.finish()
        }
        guard !flows.rest.isEmpty else { return }
        if flows.isCut { use(Self.cut(SavedCalls.mitmproxy, within: count + 1)) }
        let line = 1 + Lines.own.count(in: file[...], 0..<flows.rest.startIndex)
        searchText(CaptureReader(flows.rest, line: line), inside: way, search, use)
    }

    /// Reads a capture that can be searched only as a whole.
    private func readFile(_ reader: CaptureReader, _ use: @escaping (Part) -> Void) -> [UInt8] {
        var file: [UInt8] = []
        while file.count < Self.fileLimit, case let more = reader.take(pieceSize), !more.isEmpty { file += more }
        if reader.peek != nil { use(.unread("only the first \(file.count) bytes of the capture were searched")) }
        return file
    }

    /// Adds guessed tokens to the parts of a capture. If one of them reads well, it replaces those that do not.
    private static func parts(_ parts: [Part], with guessed: Searched, in text: ArraySlice<UInt8>, inside way: [String])
        -> [Part]
    {
        var tokens = guessed.changed {
            $0.way = way + $0.way
            $0.line += 1
        }.findings.filter { $0.clearText != nil }
        LineTime.date(&tokens, in: text, from: text.startIndex, on: 1)
        guard tokens.contains(where: \.isSettled) || parts.allSatisfy({ $0.findings.isEmpty }) else { return parts }
        let others = parts.map { part in
            guard case .findings(let findings) = part else { return part }
            return .findings(findings.filter { $0.clearText == nil })
        }
        return others.filter { if case .findings(let findings) = $0 { !findings.isEmpty } else { true } }
            + (tokens.isEmpty ? [] : [.findings(tokens)])
    }

    private func searchOnce(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        while true {
            while reader.peek?.isASCIIWhiteSpace == true { reader.skip() }
            guard reader.peek == UInt8(ascii: "{") || reader.peek == UInt8(ascii: "[") else { break }
            guard searchDocument(reader, inside: way, search, use) else { break }
        }
        searchText(reader, inside: way, search, use)
    }

    /// Searches one JSON document.
    ///
    /// - Returns: Whether it was one to its end.
    private func searchDocument(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) -> Bool {
        var isWhole = false
        let isCharles = SavedCalls.isCharles(reader.ahead(SavedCalls.head))
        let archive = isCharles ? SavedCalls.charles : Finding.archive
        let entry = withDocument(search, inside: way, archive: archive, use) { document in
            let calls = isCharles ? SavedCalls(search.budget, document.take) : nil
            var walker = JSONWalker(reader, limit: pieceSize, calls?.add ?? document.take)
            isWhole = walker.walk()
            calls?.finish(isWhole: isWhole)
        }
        if !isWhole, entry > 0, reader.peek == nil { use(Self.cut(archive, within: entry)) }
        return isWhole
    }

    private static func cut(_ archive: String, within entry: Int) -> Part {
        .unread("the \(archive) file ends within entry \(entry): it was cut, or is still being written")
    }

    /// Reports what `fill` gives to a document.
    ///
    /// - Returns: The number of the last entry; 0 outside of archives.
    private func withDocument(
        _ search: CaptureSearch, inside way: [String], archive: String, _ use: @escaping (Part) -> Void,
        _ fill: (CapturedDocument) -> Void
    ) -> Int {
        let document = CapturedDocument(search, in: way, archive: archive, use)
        fill(document)
        document.finish()
        search.budget.place = { "" }
        return document.number
    }

    /// Searches what is left as text, piece by piece.
    private func searchText(
        _ reader: CaptureReader, inside way: [String], _ search: CaptureSearch, _ use: @escaping (Part) -> Void
    ) {
        var (piece, begin, line, known) = ([UInt8](), 0, reader.line, Set<Finding.Key>())
        while reader.peek != nil || begin < piece.count {
            while piece.count < pieceSize {
                let more = reader.take(pieceSize - piece.count)
                guard !more.isEmpty else { break }
                piece += more
            }
            if reader.peek == nil, begin == 0, let transcript = HTTPTranscript(piece[...]) {
                _ = withDocument(search, inside: way, archive: HTTPTranscript.name, use) { document in
                    transcript.report { document.take($0, $1, $2 + line - 1) }
                }
                piece = transcript.rest
            }
            let end = reader.peek == nil ? piece.count : piece.count - overlap
            var searched = Searched()
            let position = search.scan(
                piece[...], .own, from: begin, until: end, at: 0, depth: 0, &searched)
            search.decode(piece[...], .own, from: begin, depth: 0, &searched)
            var findings = searched.changed {
                $0.way = way + $0.way
                $0.line += line
            }.findings
            LineTime.date(&findings, in: piece[...], from: begin, on: line)
            for reason in searched.unread(in: way, line: line) { use(.unread(reason)) }
            // A token that begins after the piece may be found now, and again with the next piece.
            let new = findings.filter { Finding.Key($0).map { !known.contains($0) } ?? true }
            known = Set(findings.compactMap(Finding.Key.init))
            if !new.isEmpty { use(.findings(new)) }
            line += piece[begin..<position].count { $0 == UInt8(ascii: "\n") }
            let dropped = max(0, position - context)
            piece.removeFirst(dropped)
            begin = position - dropped
        }
    }
}
