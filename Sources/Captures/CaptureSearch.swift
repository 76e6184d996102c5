internal import TextEncodings

/// Searches a text for tokens, takes off what they are wrapped in, and searches what that gives, layer by layer.
///
/// The search is for people who debug. It accepts nothing: the strict reader decides what a token says.
final class CaptureSearch {
    /// The position of a text in the capture.
    struct Place {
        /// Makes the layers around the text. Only a report needs them: a value may be deep, and the values many.
        let way: () -> [String]
        var line: Int
        var lines = Lines.one

        func inside(_ step: @escaping @autoclosure () -> String, lines: Lines = .one) -> Place {
            Place(way: { way() + [step()] }, line: line, lines: lines)
        }

        func advanced(by lines: Int) -> Place { Place(way: way, line: line + lines, lines: self.lines) }
    }

    /// How the lines of a text and those of the capture belong together.
    enum Lines {
        /// All of the text is on the line on which it begins.
        case one
        /// The text has the line breaks of the capture.
        case ofCapture
        /// The positions in the text at which lines of the capture begin.
        case starting([Int])
    }

    private var findings: [Finding] = []
    /// Findings to which the statements of the document around them were added.
    private var complete: [Finding] = []
    private var facts = Facts()
    /// What was not searched, and why.
    private var unread: [String] = []
    /// Whether the values belong to one entry of a HAR file. They are then kept until the entry is reported.
    var isCall = false

    /// The number of layers within layers. A real capture has up to six.
    private static let depthLimit = 10
    private var depth: Int
    private let budget: CaptureBudget
    /// The object whose value is searched; `nil` outside of documents.
    private var object: Facts.Object?
    private var origin = Finding.Origin()

    init(_ budget: CaptureBudget, depth: Int = 0) { (self.budget, self.depth) = (budget, depth) }

    /// Searches a text of any form.
    func search(_ text: ArraySlice<UInt8>, at place: Place) {
        guard depth < Self.depthLimit, budget.pay(text.count, at: place) else { return }
        depth += 1
        defer { depth -= 1 }
        if var recoder = UTF16Recoder(beginning: text) {
            let recoded = recoder.recode(Array(text)) + recoder.recode([])
            return search(recoded[...], at: place.inside(UTF16Recoder.name))
        }
        if Inflation.unpacks(text) {
            let inflation = Inflation(text, budget)
            let unpacked = inflation.all()
            if inflation.isCut {
                let way = (place.way() + [Inflation.name]).joined(separator: " › ")
                unread.append("line \(place.line), \(way): only the first \(unpacked.count) bytes were searched")
            }
            // A text may begin with the same bytes.
            guard unpacked.isEmpty else {
                return search(unpacked[...], at: place.inside(Inflation.name))
            }
        }
        let first = text.first { !$0.isASCIIWhiteSpace }
        let isDocument = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        let begin = isDocument ? walk(text, at: place) : text.startIndex
        let lines = place.lines.count(in: text, text.startIndex..<begin)
        searchText(text, from: begin, until: text.endIndex, at: place.advanced(by: lines))
    }

    /// Searches the document that `text` begins with, as far as it is one. What is behind it is searched as text, and nothing
    /// twice, so that the time stays in proportion to the length.
    ///
    /// - Returns: The position up to which the text was searched.
    private func walk(_ text: ArraySlice<UInt8>, at place: Place) -> Int {
        let search = CaptureSearch(budget, depth: depth)
        let reader = CaptureReader(text)
        var walker = JSONWalker(reader, limit: .max) { path, value, line in
            var place = place
            if case .ofCapture = place.lines { place.line += line - 1 }
            search.take(value, at: path[...], in: place)
        }
        _ = walker.walk()
        add(search)
        return text.endIndex - reader.left
    }

    private func add(_ document: CaptureSearch) {
        let (inner, innerFacts) = document.takeAll()
        unread += document.takeUnread()
        for var finding in inner {
            (finding.object, finding.origin) = (object, origin)
            findings.append(finding)
        }
        // What an answer says is not what was asked for.
        if object?.first != .name("response") { facts.add(innerFacts) }
    }

    /// The number of bytes from an answer's brace to the members that show what it is.
    private static let answerHead = 64
    private static let answerLimit = 1 << 18

    /// Takes one value of a document, and searches it.
    func take(_ value: [UInt8], at steps: ArraySlice<JSONWalker.Step>, in place: Place) {
        let object = steps.parent
        origin = Finding.Origin(value: origin.value + 1, of: steps)
        if !isCall, facts.isFull(before: object) { completeFindings(before: object) }
        facts.add(value, at: steps, in: place)
        let isDocument = value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[")
        guard isDocument || value.count >= Self.shortestToken else { return }
        self.object = object
        search(value[...], at: place.inside(steps.path))
        self.object = nil
    }

    /// The length of a value that may hold a token. A shorter document may still name its resource.
    private static let shortestToken = 24

    /// Searches text that is no document for what may begin a token, and peels each of them.
    ///
    /// - Parameters:
    ///   - begin: the position from which on tokens are looked for. Bytes before it are read only as context.
    ///   - end: the position up to which a token may begin.
    /// - Returns: The position up to which the text was searched.
    @discardableResult
    func searchText(_ text: ArraySlice<UInt8>, from begin: Int, until end: Int, at place: Place) -> Int {
        var (position, counted, used, place) = (begin, begin, text.startIndex, place)
        while let run = DigitRun.next(in: text, from: position, until: end) {
            place.line += place.lines.count(in: text, counted..<run.start)
            counted = run.start
            let end = peel(run, in: text, after: used, at: place)
            if end > run.end { used = end }
            position = max(run.end, end)
        }
        return max(position, end)
    }

    /// Takes off what is around a token that may begin with `run`.
    ///
    /// - Parameter used: the end of what was found before. No grant reaches back to it, as many that follow each other would.
    /// - Returns: The position up to which the text was used.
    private func peel(_ run: DigitRun, in text: ArraySlice<UInt8>, after used: Int, at place: Place) -> Int {
        switch run.kind(in: text) {
        case .marker(let marker):
            guard let bracket = OpeningBracket(before: marker, until: run.end, in: text) else { return run.end }
            let named = place.named(by: text, before: bracket.start)
            guard let escape = bracket.escape else {
                let clear = ClearText(in: text[bracket.start...])
                if !clear.readings.isEmpty { add(.token(clear.readings), at: named, clear.extent) }
                return clear.end
            }
            let region = escape.region(in: text[bracket.start...])
            search(escape.decode(region)[...], at: named.inside(escape.rawValue))
            return region.endIndex
        case .grant:
            let grant = GrantText(around: run, in: text[used...])
            let named = place.named(by: text, before: grant.range.lowerBound)
            add(.grant(String(decoding: text[grant.range], as: UTF8.self)), at: named)
            return grant.range.upperBound
        case .error:
            if let document = ErrorDocument(in: text, at: run.start) { add(.error(document.error), at: place) }
            return run.end
        case .answer(let escape):
            let before = text[..<run.start].suffix(Self.answerHead)
            guard let brace = before.lastIndex(of: UInt8(ascii: "{")) else { return run.end }
            let answer = text[brace...].prefix(Self.answerLimit)
            let begin = place.advanced(by: -place.lines.count(in: text, brace..<run.start))
            guard let escape else { return walk(answer, at: begin) }
            let end = Self.closingBrace(of: answer)
            search(escape.decode(answer[..<end])[...], at: begin.inside(escape.rawValue))
            return max(end, run.end)
        case .digits(let marker):
            let starts = [run.start] + (marker.map { [$0] } ?? [])
            let texts = starts.lazy.compactMap { start in EncodedText(in: text[start...]).map { (start, $0) } }
            guard let (start, encoded) = texts.first else { return run.end }
            search(encoded.decoded[...], at: place.named(by: text, before: start).inside(encoded.encoding.rawValue))
            return encoded.end
        case nil:
            return run.end
        }
    }

    /// The position behind the brace that closes the first one; the end of the text if there is none.
    private static func closingBrace(of text: ArraySlice<UInt8>) -> Int {
        var depth = 0
        for (position, byte) in zip(text.indices, text) {
            depth += byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0
            if depth == 0 { return position + 1 }
        }
        return text.endIndex
    }

    private func add(_ content: Finding.Content, at place: Place, _ extent: Finding.Extent = .plain) {
        findings.append(
            Finding(content, way: place.way(), line: place.line, object: object, origin: origin, extent: extent))
    }

    /// Returns and forgets the findings since the last call, with the statements and errors of their documents.
    func takeAll() -> (findings: [Finding], facts: Facts) {
        completeFindings()
        defer { (complete, facts) = ([], Facts()) }
        return (complete, facts)
    }

    /// Returns and forgets what was not searched since the last call, each with the reason.
    func takeUnread() -> [String] {
        defer { unread = [] }
        return unread
    }

    /// Completes the findings, and drops the objects that end before `next`.
    private func completeFindings(before next: Facts.Object? = nil) {
        func isOpen(_ object: Facts.Object) -> Bool { next?.starts(with: object) ?? false }
        for var finding in findings {
            if finding.stated == .nothing, let object = finding.object, case .token = finding.content {
                let facts = facts
                finding.stated = Stated(named: { facts[object][$0] }, { facts[object.parent][$0] })
            }
            complete.append(finding)
        }
        findings = []
        complete += facts.objects.compactMap { isOpen($0.path) ? nil : error(in: $0.path, at: $0.place) }
        if next != nil { facts.drop(except: isOpen) }
    }

    /// What an enhanced error tells the client to do (Adobe Pass, Enhanced Error Codes).
    private static let actions = [
        "none", "configuration", "application-registration", "authentication", "authorization", "degradation", "retry",
        "retry-after",
    ]

    /// Whether an object with a code is an error of Adobe Pass or of a gate: other services have codes too, also secret ones.
    private func isError(_ members: [String: String], _ code: String, isDenial: Bool) -> Bool {
        func isKnown(_ action: String) -> Bool { Self.actions.contains { $0.hasSameBytes(as: action) } }
        let isWord = code.utf8.allSatisfy { $0.isLetterOrDigit && !$0.isDigit || $0 == UInt8(ascii: "_") }
        let isFailure = members["status"].flatMap { Int($0) }.map { (400..<600).contains($0) } ?? false
        return isWord && (isFailure || isDenial || isKnown(members["action"] ?? ""))
    }

    private static func isDenied(_ decision: [String: String]) -> Bool {
        decision["authorized"]?.hasSameBytes(as: "false") ?? false
    }

    /// The error that an object of the document is; `nil` if it is none.
    private func error(in object: Facts.Object, at place: Place) -> Finding? {
        let members = facts[object]
        if object.isEmpty, let error = ServiceError(ofPlainMembers: members) {
            return Finding(.error(error), way: place.way(), line: place.line)
        }
        if Self.isDenied(members), object.dropLast().last == .name("decisions"),
            facts[object + [.name("error")]]["code"] == nil
        {
            let denial = ServiceError(
                code: "authorized is false", action: nil, message: nil, resource: members["resource"], isDenial: true)
            return Finding(.error(denial), way: place.way() + [object.path], line: place.line)
        }
        let isDenial = object.last == .name("error") && Self.isDenied(facts[object.parent])
        guard let code = members["code"], isError(members, code, isDenial: isDenial) else { return nil }
        let error = ServiceError(
            code: code, action: members["action"],
            message: members["details"] ?? members["message"] ?? members["detail"],
            resource: facts[object.parent]["resource"], isDenial: isDenial)
        return Finding(.error(error), way: place.way() + [object.path].filter { !$0.isEmpty }, line: place.line)
    }
}

extension CaptureSearch.Lines {
    /// The number of lines of the capture that begin in a part of the text.
    func count(in text: ArraySlice<UInt8>, _ part: Range<Int>) -> Int {
        switch self {
        case .one: 0
        case .ofCapture: text[part].count { $0 == UInt8(ascii: "\n") }
        case .starting(let starts): starts.index(behind: part.upperBound) - starts.index(behind: part.lowerBound)
        }
    }
}

extension [Int] {
    /// The index of the first number of a sorted array that is larger than `number`.
    fileprivate func index(behind number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            (low, high) = self[middle] > number ? (low, middle) : (middle + 1, high)
        }
        return low
    }
}

extension ArraySlice<JSONWalker.Step> {
    /// The length from which on the beginning of a path is left out: what is deep in a document may be found many times.
    private static var longest: Int { 120 }

    /// The path as one writes it: `decisions[0].token.serializedToken`.
    var path: String {
        var text = ""
        for (position, step) in zip(indices, self).reversed() {
            guard text.utf8.count < Self.longest else { return "…" + text }
            switch step {
            case .index(let index): text = "[\(index)]" + text
            case .name(let name):
                let shown = name.text.isEmpty ? "\"\"" : printable(name.text, limit: 40)
                text = (position == startIndex ? "" : ".") + shown + text
            }
        }
        return text
    }
}

extension CaptureSearch.Place {
    /// The place below the name that a text gives to what begins at `start`: a header's, a parameter's, an element's.
    fileprivate func named(by text: ArraySlice<UInt8>, before start: Int) -> Self {
        var before = text[..<start].suffix(80)
        // A scheme stands between the name of a header and a token: `Authorization: Bearer TOKEN`.
        if before.suffix(7).elementsEqual("Bearer ".utf8) { before = before.dropLast(7) }
        let separators = before.reversed().prefix { "\"'\\ :=>\t\r\n".utf8.contains($0) }
        guard separators.contains(where: { ":=>".utf8.contains($0) }) else { return self }
        let head = before.dropLast(separators.count)
        var name = head.suffix(head.reversed().prefix { $0.isLetterOrDigit || "-_.".utf8.contains($0) }.count)
        let end = head.dropLast(name.count).last
        // The letter of an escape before the name, such as that of a line break, is no part of it.
        if end == UInt8(ascii: "\\"), let letter = name.first, "nrtu".utf8.contains(letter) { name = name.dropFirst() }
        let isClosingTag = separators.contains(UInt8(ascii: ">")) && end == UInt8(ascii: "/")
        // A number is the part of a time or a port before its colon.
        let isName = name.first { $0 != UInt8(ascii: "-") }.map { $0 == 0x5F || $0.isLetterOrDigit && !$0.isDigit }
        guard isName == true, name.count <= 40, !isClosingTag else { return self }
        return inside(String(decoding: name, as: UTF8.self), lines: lines)
    }
}
