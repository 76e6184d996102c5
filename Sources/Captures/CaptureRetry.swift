/// Searches all of a capture again, without what it may be written in, if no complete token was found in it as it is.
struct CaptureRetry {
    let budget: CaptureBudget

    /// The length of a text that is small enough to take two wrappings off.
    private static let twoLimit = 1 << 17

    /// Removes one wrapping from the text and searches the result, one after the other, until a complete token is found; then, from
    /// a short text, two of them.
    ///
    /// - Returns: What was found then; nothing if no token comes out.
    func findings(in text: ArraySlice<UInt8>, at place: CaptureSearch.Place) -> [Finding] {
        guard budget.pay(text.count, at: place) else { return [] }
        // What a reader of documents leaves out, such as what tools add to a call, is there as it is.
        let asItIs = findings(searching: text, at: place)
        if asItIs.contains(where: \.isPlainToken) { return asItIs }
        let unpacked = unpacked(text, at: place)
        return unpacked.isEmpty ? findings(in: text, at: place, count: text.count <= Self.twoLimit ? 2 : 1) : unpacked
    }

    /// Searches each packed text within another one, as the body of an answer whose head is before it.
    private func unpacked(_ text: ArraySlice<UInt8>, at place: CaptureSearch.Place) -> [Finding] {
        var (found, rest, place, counted) = ([Finding](), text, place, text.startIndex)
        while let start = rest.firstRange(of: Inflation.gzipMagic)?.lowerBound, !budget.isExceeded {
            let packed = Inflation(rest[start...], budget)
            place = place.advanced(by: place.lines.count(in: text, counted..<start))
            counted = start
            found += findings(searching: packed.all()[...], at: place.inside(Inflation.name))
            rest = packed.packed.startIndex > start ? packed.packed : rest[(start + 1)...]
        }
        return found
    }

    private func findings(
        in text: ArraySlice<UInt8>, at place: CaptureSearch.Place, count: Int
    ) -> [Finding] {
        let plain = Wrapping.formatting.remove(from: text)
        let isFormatted = plain.count != text.count
        let place = isFormatted ? place.inside(Wrapping.formatting.rawValue, lines: place.lines) : place
        let found = isFormatted ? findings(searching: plain[...], at: place) : []
        if found.contains(where: \.isPlainToken) { return found }
        var unwrapped: [(text: [UInt8], place: CaptureSearch.Place)] = []
        var dumped: [Finding] = []
        for step in Self.steps where budget.pay(plain.count, at: place) {
            let inner = step.remove(plain[...])
            guard inner != plain else { continue }
            // Only the line breaks of the capture itself can be counted.
            let lines = if case .ofCapture = place.lines { step.lines(plain[...]) } else { CaptureSearch.Lines.one }
            let inside = place.inside(step.name, lines: lines)
            let found = findings(searching: inner[...], at: inside)
            if found.contains(where: \.isPlainToken) { return found }
            if count > 1 { unwrapped.append((inner, inside)) }
            guard step.isDump else { continue }
            // What was a dump is nothing else besides. A token in it may have line breaks of its own.
            dumped = found.filter(\.isWrapped)
            break
        }
        for (text, place) in unwrapped.reversed() {
            let found = findings(in: text[...], at: place, count: count - 1)
            guard found.isEmpty else {
                return found.indices.map { $0 < dumped.count ? found[$0].merging(dumped[$0]) : found[$0] }
            }
        }
        return dumped
    }

    private func findings(searching text: ArraySlice<UInt8>, at place: CaptureSearch.Place) -> [Finding] {
        let search = CaptureSearch(budget)
        search.search(text, at: place)
        return search.takeAll().findings
    }

    /// One way to take something off a text.
    private struct Step {
        let name: String
        var isDump = false
        let remove: (ArraySlice<UInt8>) -> [UInt8]
        let lines: (ArraySlice<UInt8>) -> CaptureSearch.Lines
    }

    private static var steps: [Step] {
        Escape.allCases.map { escape in
            Step(name: escape.rawValue, remove: escape.decode) { _ in
                escape == .percent || escape == .entities ? .ofCapture : .one
            }
        }
            + Wrapping.allCases.filter { $0 != .formatting }.map { wrapping in
                Step(
                    name: wrapping.rawValue, isDump: wrapping == .hexdump || wrapping == .byteValues,
                    remove: wrapping.remove, lines: wrapping.lines)
            }
    }
}
