/// One JSON document of a capture, which is reported whole, or item by item if it is an array or a HAR file.
final class CapturedDocument {
    private let place: CaptureSearch.Place
    private let use: (TokenFinder.Part) -> Void
    private let search = CaptureSearch()
    private var entry: (number: Int, line: Int)?
    /// The item of the array that the document is; `nil` if it is none.
    private var item: JSONWalker.Step?

    init(at place: CaptureSearch.Place, _ use: @escaping (TokenFinder.Part) -> Void) {
        (self.place, self.use) = (place, use)
    }

    /// Takes one value of the document.
    func take(_ path: [JSONWalker.Step], _ value: [UInt8], _ line: Int) {
        var (place, path) = (CaptureSearch.Place(way: place.way, line: line), path[...])
        if path.count > 3, path.starts(with: [.name("log"), .name("entries")]), case .index(let index) = path[2] {
            if entry?.number != index + 1 { finish() }
            entry = entry ?? (index + 1, line)
            place.way += Self.way(toEntry: index + 1)
            path = path.dropFirst(3)
            // What tools add to an entry, such as the stack of the script that asked, belongs to no call.
            if case .name(let name)? = path.first, name.hasPrefix("_") { return }
        } else if case .index? = path.first, path.first != item {
            finish()
            item = path.first
        }
        search.isCall = entry != nil
        search.take(value, at: path, in: place)
    }

    private static func way(toEntry number: Int) -> [String] { [Finding.archive, "entry \(number)"] }

    /// Reports what was taken since the last report.
    func finish() {
        let (all, facts) = search.takeAll()
        let findings = Self.withoutRepetitions(
            all.filter { finding in
                // A browser repeats the URL of a page in the requests of that page, and no request has an error of the service.
                let header = finding.object.flatMap { facts[$0]["name"] }
                if case .error = finding.content { return finding.isSent != true }
                return header?.lowercased() != "referer"
            })
        if let entry {
            use(.call(CapturedCall(number: entry.number, line: entry.line, findings: findings, facts: facts)))
        } else if !findings.isEmpty {
            use(.findings(findings))
        }
        entry = nil
    }

    /// The findings, each token once: archives repeat parameters, and a long string is read in pieces that overlap.
    private static func withoutRepetitions(_ findings: [Finding]) -> [Finding] {
        var known: Set<[UInt8]> = []
        return findings.filter { finding in
            switch finding.content {
            case .token(let readings):
                known.insert((finding.isSent == true ? [1] : [0]) + (readings.first?.clearText ?? [])).inserted
            case .grant(let text): known.insert(Array(text.utf8)).inserted
            case .error: true
            }
        }
    }
}
