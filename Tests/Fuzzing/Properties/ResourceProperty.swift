internal import MediaToken
internal import TokenXML

/// Canonical form is a fixed point, and equal forms mean equal content; comparison is symmetric and knows bytes when it
/// sees them.
struct ResourceProperty: FuzzProperty {
    /// - Parameter input: two resources with a line feed and a NUL between them; or one, which is compared with itself.
    func check(_ input: [UInt8]) throws {
        let parts = input.split(separator: [0x0A, 0x00], maxSplits: 1, omittingEmptySubsequences: false)
        guard let left = String(validating: parts[0], as: UTF8.self),
            let right = String(validating: parts.count > 1 ? parts[1] : parts[0], as: UTF8.self)
        else { return }
        let exact = ResourceRule.exactly(ResourceID(left)).matches(ResourceID(right))
        try demand(exact == Array(left.utf8).elementsEqual(right.utf8), "equal is not equal in bytes")
        let canonical = ResourceRule.canonically([ResourceID(left)]).matches(ResourceID(right))
        try demand(
            ResourceRule.canonically([ResourceID(right)]).matches(ResourceID(left)) == canonical,
            "matches one way and not the other")
        try demand(!exact || canonical, "the same bytes, and no match")
        for text in [left, right] { try checkForm(of: text) }
        try checkDifference(left, right, isExact: exact, isCanonical: canonical)
        if canonical, !exact {
            let (first, second) = (try XMLProperty.read(Array(left.utf8)), try XMLProperty.read(Array(right.utf8)))
            try demand(
                XMLProperty.essence(first) == XMLProperty.essence(second), "match, and hold \(first) and \(second)")
        }
    }

    /// Only equal forms have no difference. Of documents with these, only equal ones have no other markup.
    private func checkDifference(_ left: String, _ right: String, isExact: Bool, isCanonical: Bool) throws {
        let (bytes, others) = (Array(left.utf8), Array(right.utf8))
        guard let form = try? XMLProperty.canonical(bytes), let other = try? XMLProperty.canonical(others) else {
            return
        }
        try demand(
            (CanonicalDifference(between: form, and: other) == nil) == (form == other),
            "equal forms have a difference, or others have none")
        if isCanonical {
            try demand(
                CanonicalXML.details(between: bytes, and: others).isEmpty == isExact,
                "equal documents have other markup, or others have none")
        }
    }

    private func checkForm(of text: String) throws {
        guard let form = try? XMLProperty.canonical(Array(text.utf8)) else { return }
        try demand(try XMLProperty.canonical(form) == form, "the canonical form of the canonical form is another")
    }
}
