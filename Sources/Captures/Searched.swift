/// What was found in a text. Ways and lines are those within it: its first line is 0.
struct Searched {
    /// Where something begins that could not be read yet.
    struct Mark {
        enum Kind {
            case token, answer
            /// Anything, on any line.
            case any
        }

        let kind: Kind
        /// The position in the text.
        let position: Int
        let line: Int
    }

    /// A text that was searched at its beginning only.
    struct Cut {
        var way: [String]
        var line: Int
        let count: Int
    }

    private(set) var findings: [Finding] = []
    /// What documents in the text say of each subject.
    var said: [String: String] = [:]
    /// What is not read yet.
    var open: [Mark] = []
    /// The lines on which responses of Adobe Pass were read.
    var answers: Set<Int> = []
    var cuts: [Cut] = []
    /// Whether the first marker of an escaped token was read, and its second one was not.
    var isInEscaped = false

    mutating func add(_ finding: Finding) { findings.append(finding) }

    /// Adds what was found in a text that begins on a line of this one.
    mutating func add(_ inner: Searched, inside way: @autoclosure () -> [String], line: Int) {
        guard !inner.isEmpty else { return }
        let way = way()
        for var finding in inner.findings {
            (finding.way, finding.line) = (way + finding.way, finding.line + line)
            findings.append(finding)
        }
        cuts += inner.cuts.map { Cut(way: way + $0.way, line: $0.line + line, count: $0.count) }
        answers.formUnion(inner.answers.map { $0 + line })
        said.merge(inner.said) { first, _ in first }
    }

    private var isEmpty: Bool { findings.isEmpty && cuts.isEmpty && answers.isEmpty && said.isEmpty }

    /// Takes what was found in the same text after something was taken off all of it. A token that was found before is
    /// exchanged for the one that is better read; whatever else was found on a line stays as it was. Each token that
    /// reads well now closes a mark of its line.
    mutating func improve(by other: Searched, decodedBy decoders: [Decoder]) {
        let way = decoders.map(\.name)
        let known = Dictionary(grouping: findings.indices) { Identity(findings[$0]) }
        var (left, new, closed) = (known, [Finding](), [Int]())
        for var finding in other.findings {
            finding.repairs = decoders.compactMap { $0.repair(before: finding.way) } + finding.repairs
            finding.way = way + finding.way
            let identity = Identity(finding)
            if let index = left[identity]?.first {
                left[identity]?.removeFirst()
                guard findings[index].isWorse(than: finding) else { continue }
                if finding.isSettled, !findings[index].isSettled { closed.append(finding.line) }
                // The token stood there whole, so the decoder has changed something inside of it.
                if findings[index].isWhole, finding.repairs.isEmpty {
                    finding.repairs = finding.way.filter(Decoder.ofBrackets.contains).map { "\($0) within it" }
                }
                findings[index] = finding
            } else if finding.clearText != nil || known[identity] == nil {
                new.append(finding)
            }
        }
        // Damage to the first digits of a token makes it look like another token.
        let tokens = Dictionary(grouping: findings.indices.filter { findings[$0].clearText != nil }) {
            findings[$0].line
        }
        for finding in new {
            let onLine = tokens[finding.line] ?? []
            if finding.clearText == nil || onLine.isEmpty {
                findings.append(finding)
            } else if finding.isSettled {
                let bad = onLine.first { !findings[$0].isSettled && left[Identity(findings[$0])]?.contains($0) == true }
                if let bad { findings[bad] = finding } else { findings.append(finding) }
            }
            if finding.isSettled { closed.append(finding.line) }
        }
        // The end of a token that was put together again.
        if findings.contains(where: \.isSettled) { findings.removeAll(where: \.isHeadless) }
        answers.formUnion(other.answers)
        cuts += other.cuts.map { Cut(way: way + $0.way, line: $0.line, count: $0.count) }
        said.merge(other.said) { first, _ in first }
        for line in closed {
            guard let mark = open.firstIndex(where: { $0.kind == .any || $0.kind == .token && $0.line == line })
            else { continue }
            open.remove(at: mark)
        }
        open.removeAll { $0.kind == .answer && answers.contains($0.line) }
    }

    /// What was not searched, and why, each in a line.
    ///
    /// - Parameters:
    ///   - way: What the text is in.
    ///   - line: The line on which it begins.
    func unread(in way: [String], line: Int = 0) -> [String] {
        cuts.map { cut in
            let place = (way + cut.way).joined(separator: " › ")
            return "line \(cut.line + line), \(place): only the first \(cut.count) bytes were searched"
        }
    }

    /// Puts the findings in the order of their lines, each token once on a line.
    mutating func sort() {
        var known: Set<Finding.Key> = []
        findings.removeAll { Finding.Key($0).map { !known.insert($0).inserted } ?? false }
        findings = findings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map(
            \.element)
    }

    /// Returns what was found before a line.
    func before(line: Int) -> Searched {
        var before = self
        before.findings.removeAll { $0.line >= line && line > 0 }
        return before
    }

    /// Changes each finding.
    func changed(_ change: (inout Finding) -> Void) -> Searched {
        var changed = self
        for index in findings.indices { change(&changed.findings[index]) }
        return changed
    }

    /// What tells a finding from others of its text, however it is written: the line, and the first digits of a token's
    /// signature.
    private struct Identity: Hashable {
        let line: Int
        let kind: Int
        let digits: [UInt8]

        init(_ finding: Finding) {
            line = finding.line
            switch finding.content {
            case .token(let clearText): (kind, digits) = (0, ClearText.identity(of: clearText[...]))
            case .grant: (kind, digits) = (1, [])
            case .error: (kind, digits) = (2, [])
            }
        }
    }
}
