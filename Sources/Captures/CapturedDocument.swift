internal import TextEncodings

/// One JSON document of a capture, which is reported whole, or item by item if it is an array or a HAR file.
final class CapturedDocument {
    private let place: CaptureSearch.Place
    private let use: (TokenFinder.Part) -> Void
    private let search: CaptureSearch
    private var entry: (path: ArraySlice<JSONWalker.Step>, line: Int)?
    /// The number of the current entry, over all archives of the document; 0 outside of archives.
    private(set) var number = 0
    /// The number of entries in earlier archives.
    private var numberBefore = 0
    /// The list of the archive's entries.
    private var entries: ArraySlice<JSONWalker.Step> = []
    /// The item of the array that the document is; `nil` if it is none.
    private var item: JSONWalker.Step?

    init(at place: CaptureSearch.Place, _ budget: CaptureBudget, _ use: @escaping (TokenFinder.Part) -> Void) {
        (self.place, self.use, search) = (place, use, CaptureSearch(budget))
    }

    /// Takes one value of the document.
    func take(_ path: [JSONWalker.Step], _ value: [UInt8], _ line: Int) {
        var (place, path) = (CaptureSearch.Place(way: place.way, line: line), path[...])
        if let (entryPath, index) = Self.entry(of: path) {
            if entry?.path != entryPath {
                finish()
                if entries != entryPath.dropLast() { (entries, numberBefore) = (entryPath.dropLast(), number) }
                (entry, number) = ((entryPath, line), numberBefore + index + 1)
            }
            let title = "entry \(number)"
            place = place.inside(Finding.archive).inside(title)
            path = path[entryPath.endIndex...]
            // What tools add to an entry, such as the stack of the script that asked, belongs to no call.
            if case .name(let name)? = path.first, name.text.utf8.first == UInt8(ascii: "_"), name != Self.messages {
                return
            }
        } else {
            var isNew = entry != nil
            if case .index? = path.first, path.first != item { (isNew, item) = (true, path.first) }
            if isNew { finish() }
        }
        search.isCall = entry != nil
        search.take(value, at: path, in: place)
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

    /// Reports what was taken since the last report.
    func finish() {
        let (all, facts) = search.takeAll()
        for reason in search.takeUnread() { use(.unread(reason)) }
        var repetitions = Repetitions(hasRecords: entry == nil)
        let findings =
            all.filter { finding in
                // A browser repeats the URL of a page in the requests of that page, and no request has an error of the service.
                let header = finding.object.flatMap { facts[$0]["name"] }
                if case .error = finding.content { return finding.isSent != true }
                return header?.isSame(ignoringCaseOf: "referer") != true
            }.filter { repetitions.isNew($0) }
        if let entry {
            use(.call(CapturedCall(number: number, line: entry.line, findings: findings, facts: facts)))
        } else if !findings.isEmpty {
            use(.findings(findings))
        }
        entry = nil
    }
}
