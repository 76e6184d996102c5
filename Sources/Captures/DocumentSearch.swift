internal import Basics

/// Searches the values of one JSON document, and says of each token what the document says around it.
final class DocumentSearch {
    private let search: CaptureSearch
    private let depth: Int
    /// Findings without the statements around them.
    private var waiting = Searched()
    private var complete = Searched()
    private var facts = Facts()
    /// Whether the values belong to one entry of a HAR file. They are then kept until the entry is reported.
    var isCall = false
    /// The values of the call that look like tokens and cannot be read.
    private var unreadable: Set<ArraySlice<UInt8>> = []
    /// The lines of values that show a token which could not be read.
    private(set) var openLines: [Int] = []

    /// The length of a value that may hold a token. A shorter document may still name its resource.
    private static let shortestToken = 24

    init(_ search: CaptureSearch, depth: Int) { (self.search, self.depth) = (search, depth) }

    /// Takes one value, and searches it.
    func take(_ value: [UInt8], at steps: ArraySlice<JSONWalker.Step>, line: Int) {
        let object = steps.parent
        if !isCall, facts.isFull(before: object) { completeFindings(before: object) }
        facts.add(value, at: steps, line: line)
        let isDocument = value.first == UInt8(ascii: "{") || value.first == UInt8(ascii: "[")
        guard isDocument || value.count >= Self.shortestToken else { return }
        let inner = search.search(value[...], depth: depth)
        if !inner.open.isEmpty { openLines.append(line) }
        var found = Searched()
        found.add(inner, inside: [steps.path], line: line)
        // What a response says is not what was asked for.
        if object.first != .name("response") { facts.add(found.said) }
        found.said = [:]
        let isSent = isSent(object)
        let sent = isSent == true ? SentFields(value, at: steps, header: facts[object]["name"]).values : nil
        // The tokens in each field. The search has the result of the value already, so this is cheap.
        let fields = (sent ?? []).map { field in
            (text: field, tokens: Set(search.search(field, depth: depth).findings.compactMap(\.clearText)))
        }
        var (seen, holding) = ([[UInt8]: Int](), [[UInt8]: [ArraySlice<UInt8>]]())
        for field in fields { for token in field.tokens { holding[token, default: []].append(field.text) } }
        let likeToken = sent?.first(where: SentFields.isLikeToken)
        waiting.add(
            found.changed { finding in
                (finding.object, finding.isSent) = (object, isSent)
                guard sent != nil, let clearText = finding.clearText, finding.sent == nil else { return }
                // If several fields hold the token, each finding of it is that of the next field.
                let holders = holding[clearText] ?? []
                let number = seen[clearText, default: 0]
                seen[clearText] = number + 1
                let field = holders.isEmpty ? likeToken : holders[min(number, holders.count - 1)]
                finding.sent = field.map { Array($0) }
                if holders.isEmpty, let field { unreadable.insert(field) }
            }, inside: [], line: 0)
        // A value that looks like a token and cannot be read stays a row of the call.
        for (text, tokens) in fields where tokens.isEmpty && SentFields.isLikeToken(text) {
            guard unreadable.insert(text).inserted else { continue }
            var unread = Finding(.token(Array(text)), fit: .none)
            (unread.way, unread.line, unread.object) = ([steps.path], line, object)
            (unread.isSent, unread.sent) = (isSent, Array(text))
            waiting.add(unread)
        }
    }

    /// Whether an object is in what the client of a call sent; `nil` outside of calls.
    private func isSent(_ object: Facts.Object) -> Bool? { isCall ? object.first == .name("request") : nil }

    /// Returns and forgets the findings since the last call, with the statements and errors of the document.
    func takeAll() -> (searched: Searched, facts: Facts) {
        completeFindings()
        defer { (complete, facts, unreadable) = (Searched(), Facts(), []) }
        complete.said = facts.said
        return (complete, facts)
    }

    /// Completes the findings, and drops the objects that end before `next`.
    private func completeFindings(before next: Facts.Object? = nil) {
        func isOpen(_ object: Facts.Object) -> Bool { next?.starts(with: object) ?? false }
        complete.add(
            waiting.changed { finding in
                if finding.stated == .nothing, let object = finding.object, finding.clearText != nil {
                    finding.stated = Stated(named: { self.facts[object][$0] }, { self.facts[object.parent][$0] })
                }
                if !isCall, finding.time == nil, let object = finding.object {
                    finding.time = facts.time(around: object)
                }
            }, inside: [], line: 0)
        waiting = Searched()
        for (object, line) in facts.objects where !isOpen(object) {
            guard let error = facts.error(in: object) else { continue }
            var finding = Finding(.error(error))
            (finding.way, finding.line, finding.isSent) = ([object.path].filter { !$0.isEmpty }, line, isSent(object))
            complete.add(finding)
        }
        if next != nil { facts.drop(except: isOpen) }
    }
}

extension Facts {
    /// The time that an object, or one around it, has.
    fileprivate func time(around object: Object) -> LineTime? {
        let text = Self.timeNames.lazy.compactMap { self[object][$0] }.first { $0.utf8.count >= 10 }
        if let text { return LineTime(field: text) }
        return object.isEmpty ? nil : time(around: object.parent)
    }

    /// What an enhanced error tells the client to do (Adobe Pass, Enhanced Error Codes).
    private static let actions = [
        "none", "configuration", "application-registration", "authentication", "authorization", "degradation", "retry",
        "retry-after",
    ]

    /// Whether an object with a code is an error of Adobe Pass or of a gate: other services have codes too, also secret
    /// ones.
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
    fileprivate func error(in object: Object) -> ServiceError? {
        let members = self[object]
        if object.isEmpty, let error = ServiceError(ofPlainMembers: members) { return error }
        if Self.isDenied(members), object.dropLast().last == .name("decisions"),
            self[object + [.name("error")]]["code"] == nil
        {
            return ServiceError(
                code: "authorized is false", action: nil, message: nil, resource: members["resource"], isDenial: true)
        }
        let isDenial = object.last == .name("error") && Self.isDenied(self[object.parent])
        guard let code = members["code"], isError(members, code, isDenial: isDenial) else { return nil }
        return ServiceError(
            code: code, action: members["action"],
            message: members["details"] ?? members["message"] ?? members["detail"],
            resource: self[object.parent]["resource"], isDenial: isDenial)
    }
}

extension ArraySlice<JSONWalker.Step> {
    /// The length from which on the beginning of a path is left out: what is deep in a document may be found many
    /// times.
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
