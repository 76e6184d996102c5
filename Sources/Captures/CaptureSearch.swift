internal import TextEncodings

/// Searches a text for tokens, takes off what they are wrapped in, and searches what that gives, layer by layer.
///
/// The search is for people who debug. It accepts nothing: the strict reader decides what a token says.
final class CaptureSearch {
    /// The position of a text in the capture.
    struct Place {
        /// The layers around the text.
        var way: [String]
        var line: Int
        /// Whether the text is the capture itself, so that its lines are those of the capture.
        var isOutermost = false

        func inside(_ steps: String...) -> Place { Place(way: way + steps, line: line) }
    }

    private var findings: [Finding] = []
    /// The findings about which all is known that the documents say.
    private var complete: [Finding] = []
    private var facts = Facts()
    /// Whether the facts are those of one call, which are all kept until it is reported.
    var isCall = false

    /// The number of layers within layers. A real capture has up to six.
    private static let depthLimit = 10
    /// The largest text of which everything is unescaped, if nothing was found in it as it is.
    private static let secondLookLimit = 1 << 20
    private var depth: Int
    /// The object whose value is searched; `nil` outside of documents.
    private var object: Facts.Object?

    init(depth: Int = 0) { self.depth = depth }

    /// Searches a text of any form.
    func search(_ text: ArraySlice<UInt8>, at place: Place) {
        guard depth < Self.depthLimit else { return }
        depth += 1
        defer { depth -= 1 }
        let first = text.first { !$0.isASCIIWhiteSpace }
        let isDocument = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        let begin = isDocument ? walk(text, at: place) : text.startIndex
        searchText(text, from: begin, until: text.endIndex, at: place)
    }

    /// Searches the document that `text` begins with, as far as it is one. What is behind it is searched as text, and nothing
    /// twice, so that the time stays in proportion to the length.
    ///
    /// - Returns: The position up to which the text was searched.
    private func walk(_ text: ArraySlice<UInt8>, at place: Place) -> Int {
        let search = CaptureSearch(depth: depth)
        let reader = CaptureReader(text)
        var walker = JSONWalker(reader, limit: .max) { path, value, _ in
            search.take(value, at: path[...], in: place)
        }
        _ = walker.walk()
        add(search)
        return text.endIndex - reader.left
    }

    private func add(_ document: CaptureSearch) {
        let (inner, innerFacts) = document.takeAll()
        for var finding in inner {
            finding.object = object
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
        let (object, name) = steps.splittingLastName
        if !isCall, facts.isFull(before: object) { completeFindings(before: object) }
        facts.add(value, name, in: object, at: place)
        let isDocument = value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[")
        guard isDocument || value.count >= Self.shortestToken else { return }
        self.object = object
        search(value[...], at: place.inside(steps.path))
        self.object = nil
    }

    private static let shortestToken = 24

    /// Searches text that is no document for what may begin a token, and peels each of them.
    ///
    /// - Parameters:
    ///   - begin: the position in the text from which on tokens are looked for; what is before tells how one is escaped.
    ///   - end: the position up to which a token may begin.
    /// - Returns: The position up to which the text was searched.
    @discardableResult
    func searchText(_ text: ArraySlice<UInt8>, from begin: Int, until end: Int, at place: Place) -> Int {
        var (position, counted, place) = (begin, begin, place)
        while let run = DigitRun.next(in: text, from: position, until: end) {
            if place.isOutermost {
                place.line += text[counted..<run.start].count { $0 == UInt8(ascii: "\n") }
                counted = run.start
            }
            position = max(run.end, peel(run, in: text, at: place))
        }
        return max(position, end)
    }

    /// Takes off what is around a token that may begin with `run`.
    ///
    /// - Returns: The position up to which the text was used.
    private func peel(_ run: DigitRun, in text: ArraySlice<UInt8>, at place: Place) -> Int {
        switch run.kind(in: text) {
        case .marker(let marker):
            guard let bracket = OpeningBracket(before: marker, until: run.end, in: text) else { return run.end }
            let named = place.named(by: text, before: bracket.start)
            guard let layer = bracket.layer else {
                let clear = ClearText(in: text[bracket.start...])
                if !clear.readings.isEmpty { add(.token(clear.readings), at: named, isWhole: clear.isWhole) }
                return clear.end
            }
            let region = layer.region(in: text[bracket.start...])
            search(layer.decode(region)[...], at: named.inside(layer.rawValue))
            return region.endIndex
        case .grant:
            let grant = GrantText(around: run, in: text)
            let named = place.named(by: text, before: grant.range.lowerBound)
            add(.grant(String(decoding: text[grant.range], as: UTF8.self)), at: named)
            return grant.range.upperBound
        case .error:
            guard let document = ErrorDocument(in: text, at: run.start) else { return run.end }
            add(.error(document.error), at: place)
            return document.end
        case .answer:
            let before = text[..<run.start].suffix(Self.answerHead)
            guard let brace = before.lastIndex(of: UInt8(ascii: "{")) else { return run.end }
            return walk(text[brace...].prefix(Self.answerLimit), at: place)
        case .digits(let start):
            guard let encoded = EncodedText(in: text[start...]) else { return run.end }
            search(encoded.decoded[...], at: place.named(by: text, before: start).inside(encoded.encoding.rawValue))
            return encoded.end
        case nil:
            return run.end
        }
    }

    private func add(_ content: Finding.Content, at place: Place, isWhole: Bool = true) {
        findings.append(Finding(content, way: place.way, line: place.line, object: object, isWhole: isWhole))
    }

    /// Unescapes all of a text in which no whole token was found, one way after the other, until one is found.
    func lookAgain(at text: ArraySlice<UInt8>, in place: Place) {
        guard !findings.contains(where: \.isWhole), text.count <= Self.secondLookLimit else { return }
        let seen = findings
        for layer in Layer.allCases {
            let decoded = layer.decode(text)
            guard decoded.count != text.count, decoded.count >= Self.shortestToken else { continue }
            findings = []
            search(decoded[...], at: place.inside(layer.rawValue))
            if findings.contains(where: \.isWhole) { return }
        }
        findings = seen
    }

    /// Hands over what was found since the last call, with what the documents say of the tokens in them, and with their errors.
    func takeAll() -> (findings: [Finding], facts: Facts) {
        completeFindings()
        defer { (complete, facts) = ([], Facts()) }
        return (complete, facts)
    }

    /// Completes the findings, and drops the objects that end before `next`.
    private func completeFindings(before next: Facts.Object? = nil) {
        func isOpen(_ object: Facts.Object) -> Bool { next?.starts(with: object) ?? false }
        for var finding in findings {
            if finding.stated == .nothing, let object = finding.object, case .token = finding.content {
                finding.stated = Stated(named: { facts[object][$0] ?? facts[object.parent][$0] })
            }
            complete.append(finding)
        }
        findings = []
        complete += facts.objects.compactMap { isOpen($0.path) ? nil : error(in: $0.path, at: $0.place) }
        if next != nil { facts.drop(except: isOpen) }
    }

    /// What an enhanced error tells the client to do (Adobe Pass, Enhanced Error Codes).
    private static let actions: Set<String> = [
        "none", "configuration", "application-registration", "authentication", "authorization", "degradation", "retry",
        "retry-after",
    ]

    /// Whether an object with a code is an error of Adobe Pass or of a gate: other services have codes too, also secret ones.
    private func isError(_ members: [String: String], _ code: String, in object: Facts.Object) -> Bool {
        let isWord = code.utf8.allSatisfy { $0.isLetterOrDigit && !$0.isDigit || $0 == UInt8(ascii: "_") }
        let isFailure = members["status"].flatMap { Int($0) }.map { (400..<600).contains($0) } ?? false
        let isDenial = object.last == .name("error") && facts[object.parent]["authorized"] == "false"
        return isWord && (isFailure || isDenial || members["action"].map(Self.actions.contains) ?? false)
    }

    /// The error that an object of the document is; `nil` if it is none.
    private func error(in object: Facts.Object, at place: Place) -> Finding? {
        let members = facts[object]
        guard let code = members["code"], isError(members, code, in: object) else { return nil }
        let error = ServiceError(
            code: code, action: members["action"],
            message: members["details"] ?? members["message"] ?? members["detail"],
            resource: facts[object.parent]["resource"])
        return Finding(.error(error), way: place.way + [object.path].filter { !$0.isEmpty }, line: place.line)
    }
}

extension ArraySlice<JSONWalker.Step> {
    /// The path as one writes it: `decisions[0].token.serializedToken`.
    var path: String {
        reduce(into: "") { text, step in
            switch step {
            case .index(let index): text += "[\(index)]"
            case .name(let name):
                text += (text.isEmpty ? "" : ".") + (name.isEmpty ? "\"\"" : printable(name, limit: 40))
            }
        }
    }
}

extension CaptureSearch.Place {
    /// The place below the name that a text gives to what begins at `start`: a header's, a parameter's, an element's.
    fileprivate func named(by text: ArraySlice<UInt8>, before start: Int, mayHaveScheme: Bool = true) -> Self {
        let before = text[..<start].suffix(80)
        let separators = before.reversed().prefix { "\"'\\ :=>\t\r\n".utf8.contains($0) }
        guard separators.contains(where: { ":=>".utf8.contains($0) }) else {
            // A scheme stands between the name of a header and a token: `Authorization: Bearer TOKEN`.
            guard mayHaveScheme, before.reversed().starts(with: " reraeB".utf8) else { return self }
            return named(by: text, before: start - 7, mayHaveScheme: false)
        }
        let head = before.dropLast(separators.count)
        var name = head.suffix(head.reversed().prefix { $0.isLetterOrDigit || "-_.".utf8.contains($0) }.count)
        let end = head.dropLast(name.count).last
        // The letter of an escape before the name, such as that of a line break, is no part of it.
        if end == UInt8(ascii: "\\"), let letter = name.first, "nrtu".utf8.contains(letter) { name = name.dropFirst() }
        let isClosingTag = separators.contains(UInt8(ascii: ">")) && end == UInt8(ascii: "/")
        // A number is the part of a time or a port before its colon.
        let isName = name.first { $0 != UInt8(ascii: "-") }.map { $0 == 0x5F || $0.isLetterOrDigit && !$0.isDigit }
        guard isName == true, name.count <= 40, !isClosingTag else { return self }
        return inside(String(decoding: name, as: UTF8.self))
    }
}
