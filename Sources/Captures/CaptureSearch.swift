internal import Basics

/// Searches a text for tokens, takes off what they are wrapped in, and searches what that gives.
///
/// What is encoded within a text, such as a value of a document or digits of Base64, is decoded where it stands. Where
/// a token shows and cannot be read, each ``Decoder`` takes something off all of the text, breadth first, until it can.
/// No text is searched twice.
///
/// The search is for people who debug. It accepts nothing: the strict reader decides what a token says.
final class CaptureSearch {
    /// The number of layers within layers. A real capture has up to six.
    private static let depthLimit = 10
    /// The most decoders that are applied one after the other, and the most texts that this may give.
    private static let mostDecoders = 4
    private static let mostTexts = 200
    /// After so many bytes were decoded without success, only one decoder is applied to a text.
    private static let mostVain = 1 << 26
    /// The length up to which all of a text is decoded, and how much of a longer one is, after a mark and before it.
    private static let decodedWhole = 1 << 17
    private static let decodedBehind = 1 << 16
    /// The part of that which must follow a mark, unless the text ends before: the length of a long token with escapes.
    private static let decodedToken = 1 << 14
    private static let decodedBefore = 1 << 10
    /// The number of bytes from a response's brace to the members that show what it is.
    private static let answerHead = 64
    private static let answerLimit = 1 << 18
    /// The number of texts whose findings are kept.
    private static let knownLimit = 1 << 12

    let budget: CaptureBudget
    /// The number of entries of all archives so far.
    var entries = 0
    private let fit: (ArraySlice<UInt8>) -> TokenFit
    /// What was found in texts that stand on one line.
    private var known: [Int: Searched] = [:]
    private var fits: [Int: TokenFit] = [:]
    /// The bytes that were decoded since the last success.
    private var vain = 0

    init(_ budget: CaptureBudget, _ fit: @escaping (ArraySlice<UInt8>) -> TokenFit) {
        (self.budget, self.fit) = (budget, fit)
    }

    /// Searches a text of any form that stands on one line of the capture.
    func search(_ text: ArraySlice<UInt8>, depth: Int) -> Searched {
        guard depth < Self.depthLimit else { return Searched() }
        let key = text.digest
        if let known = known[key] { return known }
        guard budget.pay(text.count) else { return Searched() }
        var searched = once(text, .one, depth: depth)
        decode(text, .one, depth: depth, &searched)
        if !searched.findings.isEmpty || !searched.open.isEmpty {
            if known.count >= Self.knownLimit { known = [:] }
            known[key] = searched
        }
        return searched
    }

    /// Searches a text as it stands.
    private func once(_ text: ArraySlice<UInt8>, _ lines: Lines, depth: Int) -> Searched {
        var searched = Searched()
        if var recoder = UTF16Recoder(beginning: text) {
            let recoded = recoder.recode(Array(text)) + recoder.recode([])
            searched.add(search(recoded[...], depth: depth + 1), inside: [UTF16Recoder.name], line: 0)
            return searched
        }
        if Inflation.unpacks(text), unpack(text, at: 0, depth, &searched) != nil { return searched }
        let first = text.first { !$0.isASCIIWhiteSpace }
        let isDocument = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        let begin = isDocument ? walk(text, lines, at: lines.leading(in: text), depth, &searched) : text.startIndex
        let line = lines.leading(in: text) + lines.count(in: text, text.startIndex..<begin)
        scan(text, lines, from: begin, until: text.endIndex, at: line, depth: depth, &searched)
        return searched
    }

    /// Searches what is packed at the beginning of a text.
    ///
    /// - Returns: The position after the packed bytes; `nil` if the text only begins with the same bytes.
    private func unpack(_ text: ArraySlice<UInt8>, at line: Int, _ depth: Int, _ searched: inout Searched) -> Int? {
        let inflation = Inflation(text, budget)
        let unpacked = inflation.all()
        if inflation.isCut { searched.cuts.append(.init(way: [Inflation.name], line: line, count: unpacked.count)) }
        guard !unpacked.isEmpty else { return nil }
        searched.add(search(unpacked[...], depth: depth + 1), inside: [Inflation.name], line: line)
        return inflation.packed.startIndex
    }

    /// Searches the document that `text` begins with, as far as it is one. What follows it is searched as text, and
    /// nothing twice, so that the time stays in proportion to the length.
    ///
    /// - Returns: The position up to which the text was searched.
    private func walk(
        _ text: ArraySlice<UInt8>, _ lines: Lines, at line: Int, _ depth: Int, _ searched: inout Searched
    ) -> Int {
        let document = DocumentSearch(self, depth: depth + 1)
        let reader = CaptureReader(text)
        let hasLines = if case .own = lines { true } else { false }
        var walker = JSONWalker(reader, limit: .max) { path, value, ownLine in
            document.take(value, at: path[...], line: hasLines ? ownLine - 1 : 0)
        }
        _ = walker.walk()
        searched.add(document.takeAll().searched, inside: [], line: line)
        for open in document.openLines {
            searched.open.append(.init(kind: .token, position: text.startIndex, line: line + open))
        }
        return text.endIndex - reader.left
    }

    /// Looks through text that is no document for the beginnings of tokens, grants and errors.
    ///
    /// - Parameters:
    ///   - begin: the position from which on tokens are looked for, which is on `line`. Bytes before it are read only
    ///     as context.
    ///   - end: the position up to which a token may begin.
    /// - Returns: The position up to which the text was searched.
    @discardableResult
    func scan(
        _ text: ArraySlice<UInt8>, _ lines: Lines, from begin: Int, until end: Int, at line: Int, depth: Int,
        _ searched: inout Searched
    ) -> Int {
        var (position, counted, used, line) = (begin, begin, text.startIndex, line)
        while let run = DigitRun.next(in: text, from: position, until: end) {
            line += lines.count(in: text, counted..<run.start)
            counted = run.start
            let behind = read(run, in: text, after: used, lines, at: line, depth, &searched)
            if behind > run.end { used = behind }
            position = max(run.end, behind)
        }
        return max(position, end)
    }

    /// Reads what `run` may begin.
    ///
    /// - Parameter used: the end of what was found before. No grant reaches back to it, as many that follow each other
    ///   would.
    /// - Returns: The position up to which the text was used.
    private func read(
        _ run: DigitRun, in text: ArraySlice<UInt8>, after used: Int, _ lines: Lines, at line: Int, _ depth: Int,
        _ searched: inout Searched
    ) -> Int {
        func add(_ finding: Finding, at start: Int) {
            var inner = Searched()
            inner.add(finding)
            searched.add(inner, inside: text.name(before: start), line: line)
        }
        func leaveOpen(_ kind: Searched.Mark.Kind, at start: Int) {
            let line = line + lines.count(in: text, run.start..<max(start, run.start))
            searched.open.append(.init(kind: kind, position: start, line: line))
        }
        switch run.kind(in: text) {
        case .marker(let marker):
            guard text[..<marker].last == UInt8(ascii: "<") else {
                // An escaped token has its marker twice.
                if text[..<marker].last != UInt8(ascii: "/") {
                    if !searched.isInEscaped { leaveOpen(.token, at: run.start) }
                    searched.isInEscaped.toggle()
                }
                return run.end
            }
            let clear = ClearText(in: text[(marker - 1)...])
            let read = clear.candidates.map { (text: $0, fit: fitOf($0)) }
            guard let best = read.first(where: { $0.fit == .good }) ?? read.max(by: { $0.fit < $1.fit }) else {
                return clear.end
            }
            let finding = Finding(.token(Array(best.text)), isWhole: clear.isWhole, fit: best.fit)
            add(finding, at: marker - 1)
            if !finding.isSettled, !finding.isHeadless { leaveOpen(.token, at: marker - 1) }
            return clear.end
        case .grant:
            let grant = GrantExtent(around: run, in: text[used...])
            // A backend may pass a media token on in the claims of a JSON Web Token.
            let claims = text[grant.range].split(separator: UInt8(ascii: "."), maxSplits: 2).dropFirst().first
            if let claims = claims.flatMap(EncodedText.init) {
                searched.add(search(claims.decoded[...], depth: depth + 1), inside: ["JWT"], line: line)
            }
            add(Finding(.grant(String(decoding: text[grant.range], as: UTF8.self))), at: grant.range.lowerBound)
            return grant.range.upperBound
        case .error:
            if let document = ErrorDocument(in: text, at: run.start) {
                add(Finding(.error(document.error)), at: run.start - 1)
            }
            return run.end
        case .answer(isEscaped: true):
            leaveOpen(.answer, at: run.start)
            return run.end
        case .answer(isEscaped: false):
            let before = text[..<run.start].suffix(Self.answerHead)
            guard let brace = before.lastIndex(of: UInt8(ascii: "{")) else { return run.end }
            let begin = line - lines.count(in: text, brace..<run.start)
            searched.answers.insert(begin)
            return walk(text[brace...].prefix(Self.answerLimit), lines, at: begin, depth, &searched)
        case .digits(let marker):
            // The digits may be a token, hold one, or have other letters before one.
            let read = Set([run.start, marker ?? run.start]).sorted().compactMap { start in
                EncodedText(text[start..<run.end]).map { encoded in
                    (start: start, encoded: encoded, inner: search(encoded.decoded[...], depth: depth + 1))
                }
            }
            if let (start, encoded, inner) = read.first(where: { $0.inner.findings.contains(where: \.isSettled) })
                ?? read.last
            {
                let line = line + lines.count(in: text, run.start..<start)
                searched.add(inner, inside: text.name(before: start) + [encoded.name], line: line)
                if !inner.open.isEmpty || marker != nil && inner.findings.isEmpty { leaveOpen(.token, at: start) }
                return run.end
            }
            if marker != nil { leaveOpen(.token, at: run.start) }
            return run.end
        case nil: return run.end
        }
    }

    private func fitOf(_ token: ArraySlice<UInt8>) -> TokenFit {
        let key = token.digest
        if let known = fits[key] { return known }
        if fits.count >= Self.knownLimit { fits = [:] }
        let found = fit(token)
        fits[key] = found
        return found
    }

    /// Applies decoders to the text around each mark, until its token can be read.
    ///
    /// - Parameter begin: the position on whose line the numbers of lines begin.
    func decode(
        _ text: ArraySlice<UInt8>, _ lines: Lines, from begin: Int? = nil, depth: Int, _ searched: inout Searched
    ) {
        guard !searched.open.isEmpty else { return }
        var (end, counted, decoded) = (text.startIndex, text.startIndex, Searched())
        var line = -lines.count(in: text, text.startIndex..<(begin ?? text.startIndex))
        for mark in searched.open where mark.position >= end {
            var window = text
            if text.count > Self.decodedWhole {
                let before = text[max(end, mark.position - Self.decodedBefore)..<mark.position]
                let begin = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
                window = text[begin...].prefix(Self.decodedBehind)
            }
            end = window.endIndex
            if end < text.endIndex {
                let behind = text[..<(end - Self.decodedToken)]
                end = behind[mark.position...].lastIndex(of: 0x0A).map { $0 + 1 } ?? behind.endIndex
            }
            line += lines.count(in: text, counted..<window.startIndex)
            counted = window.startIndex
            var part = Searched()
            part.open = searched.open.filter { (window.startIndex..<end).contains($0.position) }.map {
                .init(kind: $0.kind, position: $0.position, line: $0.line - line)
            }
            takeOff(window, lines, depth: depth, budget, &part)
            // Tokens after `end` are found again in the next window.
            let behind = end < text.endIndex ? lines.count(in: text, window.startIndex..<end) : Int.max
            decoded.add(part.before(line: behind), inside: [], line: line)
        }
        searched.improve(by: decoded, decodedBy: [])
        searched.sort()
    }

    /// Applies all decoders to a text, then all decoders to each result, until no mark is left.
    private func takeOff(
        _ text: ArraySlice<UInt8>, _ lines: Lines, depth: Int, _ budget: CaptureBudget, _ searched: inout Searched
    ) {
        var level: [(text: ArraySlice<UInt8>, lines: Lines, decoders: [Decoder])] = [(text, lines, [])]
        var (seen, left) = ([text.digest] as Set, Self.mostTexts)
        let isHopeful = vain < Self.mostVain
        let budget = isHopeful ? budget : self.budget.ofGuesses
        for _ in 0..<(isHopeful && text.count <= Self.decodedWhole ? Self.mostDecoders : 1) {
            var next = level
            next.removeAll()
            for (text, lines, decoders) in level {
                for decoder in Decoder.all {
                    guard left > 0, !budget.isExceeded, let (bytes, lines) = decoder.decode(text, lines),
                        seen.insert(bytes[...].digest).inserted, budget.pay(bytes.count)
                    else { continue }
                    (left, vain) = (left - 1, vain + bytes.count)
                    let all = decoders + [decoder]
                    searched.improve(by: once(bytes[...], lines, depth: depth + 1), decodedBy: all)
                    if searched.open.isEmpty { return vain = 0 }
                    next.append((bytes[...], lines, all))
                }
            }
            level = next
        }
    }

    /// Searches all of a short capture in which nothing shows, or in which what shows cannot be read: first as it is,
    /// then what is packed within it, then without what it may be written in.
    func guess(_ text: ArraySlice<UInt8>) -> Searched {
        var searched = Searched()
        scan(text, .own, from: text.startIndex, until: text.endIndex, at: 0, depth: 0, &searched)
        if searched.findings.contains(where: \.isSettled) { return searched }
        var (rest, line) = (text, 0)
        while let start = rest.firstRange(of: Inflation.gzipMagic)?.lowerBound, !budget.isExceeded {
            line += Lines.own.count(in: text, rest.startIndex..<start)
            let end = unpack(rest[start...], at: line, 0, &searched) ?? start + 1
            rest = rest[max(end, start + 1)...]
        }
        if searched.findings.contains(where: \.isSettled) { return searched }
        // The first good token closes this mark, whatever its line is.
        searched.open = [.init(kind: .any, position: text.startIndex, line: 0)]
        takeOff(text, .own, depth: 0, budget.ofGuesses, &searched)
        return searched
    }
}

extension ArraySlice<UInt8> {
    /// A hash of the bytes, which differs from process to process.
    fileprivate var digest: Int {
        var hasher = Hasher()
        withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    /// The name that a text gives to what begins at `start`, as a way: a header's, a parameter's, an element's; empty
    /// if there is none.
    fileprivate func name(before start: Int) -> [String] {
        var before = self[..<start].suffix(80)
        // A scheme stands between the name of a header and a token: `Authorization: Bearer TOKEN`.
        if before.suffix(7).elementsEqual("Bearer ".utf8) { before = before.dropLast(7) }
        let separators = before.reversed().prefix { "\"'\\ :=>\t\r\n".utf8.contains($0) }
        guard separators.contains(where: { ":=>".utf8.contains($0) }) else { return [] }
        let head = before.dropLast(separators.count)
        var name = head.suffix(head.reversed().prefix { $0.isLetterOrDigit || "-_.".utf8.contains($0) }.count)
        let end = head.dropLast(name.count).last
        // The letter of an escape before the name, such as that of a line break, is no part of it.
        if end == UInt8(ascii: "\\"), let letter = name.first, "nrtu".utf8.contains(letter) { name = name.dropFirst() }
        let isClosingTag = separators.contains(UInt8(ascii: ">")) && end == UInt8(ascii: "/")
        // A number is the part of a time or a port before its colon.
        let isName = name.first { $0 != UInt8(ascii: "-") }.map { $0 == 0x5F || $0.isLetterOrDigit && !$0.isDigit }
        guard isName == true, name.count <= 40, !isClosingTag else { return [] }
        return [String(decoding: name, as: UTF8.self)]
    }
}
