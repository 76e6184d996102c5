internal import Basics

/// One JSON document of a capture, which is reported whole, or item by item if it is an array or a HAR file.
final class CapturedDocument {
    private let way: [String]
    /// The name of the archive in the way of its entries: that of a HAR file, of another program's file, or of a
    /// transcript.
    private let archive: String
    private let use: (TokenFinder.Part) -> Void
    private let search: DocumentSearch
    private let capture: CaptureSearch
    private var entry: (path: ArraySlice<JSONWalker.Step>, line: Int)?
    /// The number of the current entry, over all archives of the capture; 0 outside of archives.
    private(set) var number = 0
    /// The number of entries in earlier archives.
    private var numberBefore = 0
    /// The list of the archive's entries.
    private var entries: ArraySlice<JSONWalker.Step> = []
    /// The item of the array that the document is; `nil` if it is none.
    private var item: JSONWalker.Step?

    /// - Parameter way: What the document is in.
    init(
        _ search: CaptureSearch, in way: [String], archive: String,
        _ use: @escaping (TokenFinder.Part) -> Void
    ) {
        (self.way, self.archive, self.use, capture) = (way, archive, use, search)
        self.search = DocumentSearch(search, depth: 0)
        search.budget.place = { [unowned self] in
            (["\(line)"] + self.way + entryWay).joined(separator: " › ")
        }
    }

    /// The line of the value that was taken last.
    private var line = 1

    /// The entry that the values belong to, as a part of a way.
    private var entryWay: [String] { entry == nil ? [] : [archive, "entry \(number)"] }

    /// Takes one value of the document.
    func take(_ path: [JSONWalker.Step], _ value: [UInt8], _ line: Int) {
        var path = path[...]
        self.line = line
        if let (entryPath, index) = Self.entry(of: path) {
            if entry?.path != entryPath {
                finish()
                if entries != entryPath.dropLast() { (entries, numberBefore) = (entryPath.dropLast(), capture.entries) }
                (entry, number) = ((entryPath, line), numberBefore + index + 1)
            }
            path = path[entryPath.endIndex...]
            // What tools add to an entry of a HAR file, such as the stack of the script that asked, belongs to no call.
            if case .name(let name)? = path.first, name.text.utf8.first == UInt8(ascii: "_"), name != Self.messages,
                archive.hasSameBytes(as: Finding.archive)
            {
                return
            }
        } else {
            var isNew = entry != nil
            if case .index? = path.first, path.first != item { (isNew, item) = (true, path.first) }
            if isNew { finish() }
        }
        search.isCall = entry != nil
        search.take(value, at: path, line: line)
    }

    /// What Chromium adds to an entry for the messages of a WebSocket, which are part of the call.
    private static let messages: JSONName = "_webSocketMessages"

    /// The largest number of steps before an archive's `log`: tools put it into an object or an array of theirs.
    private static let depthLimit = 4

    /// The path of the entry that a value is in, and its index; `nil` outside of archives.
    private static func entry(of path: ArraySlice<JSONWalker.Step>) -> (ArraySlice<JSONWalker.Step>, Int)? {
        for start in 0..<max(0, min(path.count - 3, depthLimit + 1)) where path[start] == .name("log") {
            guard path[start + 1] == .name("entries"), case .index(let index) = path[start + 2] else { continue }
            return (path[...(start + 2)], index)
        }
        return nil
    }

    /// Reports what was taken since the last report. What a document repeats is reported once.
    func finish() {
        let (searched, facts) = search.takeAll()
        var (known, grants, findings) = (Set<Finding.Key>(), Set<ArraySlice<UInt8>>(), [Finding]())
        let before = way + entryWay
        for finding in searched.changed({ $0.way = before + $0.way }).findings {
            // A browser repeats the URL of a page in the requests of that page, and no request has an error of the
            // service.
            let header = finding.object.flatMap { facts[$0]["name"] }
            if case .error = finding.content, finding.isSent == true { continue }
            if finding.clearText != nil || finding.isGrant, header?.isSame(ignoringCaseOf: "referer") == true {
                continue
            }
            if let key = Finding.Key(finding), !known.insert(key).inserted { continue }
            if case .grant(let text) = finding.content {
                // An archive has a parameter in the URL, and its value alone in a list.
                let grant = Array(text.utf8)[...]
                let forms: Set = [grant, grant.drop { $0 != UInt8(ascii: "=") }.dropFirst()]
                defer { grants.formUnion(forms) }
                guard grants.isDisjoint(with: forms) else { continue }
            }
            findings.append(finding)
        }
        // The value that was sent says more than the browser's list of parameters.
        let sent = Set(findings.filter { $0.sent != nil }.compactMap(\.clearText))
        findings.removeAll { finding in
            finding.isSent == true && finding.sent == nil && finding.clearText.map(sent.contains) == true
        }
        for reason in searched.unread(in: before) { use(.unread(reason)) }
        if let entry {
            capture.entries = number
            use(.call(CapturedCall(number: number, line: entry.line, findings: findings, facts: facts)))
        } else if !findings.isEmpty {
            use(.findings(findings))
        }
        entry = nil
    }
}
