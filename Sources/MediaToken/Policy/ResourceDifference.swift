/// Why two resources are not equal, in words for the person who has to find out.
struct ResourceDifference: Sendable {
    let expected: ResourceID
    let found: ResourceID
    let comparison: ResourceRule.Comparison

    var message: String {
        comparison == .canonical && canonicalMessage != nil ? canonicalMessage ?? "" : exactMessage
    }

    private var exactMessage: String {
        let place = Self.firstDifference(Array(expected.text.utf8), Array(found.text.utf8))
        guard comparison == .exact else {
            return "\(place); canonical comparison does not apply, as not both are XML without comments"
        }
        let hint =
            switch (expected.canonicalForm, found.canonicalForm) {
            case (let expected?, let found?) where expected == found:
                "canonical comparison would match (--canonical-resource)"
            case (.some, .some): "canonical comparison would not match either"
            default: "canonical comparison would not apply, as not both are XML without comments"
            }
        return "\(place); \(hint)"
    }

    private var canonicalMessage: String? {
        guard let expected = expected.canonicalForm, let found = found.canonicalForm else { return nil }
        return "in canonical form, " + Self.firstDifference(expected, found)
    }

    private static func firstDifference(_ expected: [UInt8], _ found: [UInt8]) -> String {
        let offset = zip(expected, found).prefix { $0 == $1 }.count
        return "first difference at byte \(offset): expected \(excerpt(expected, at: offset)), "
            + "signed \(excerpt(found, at: offset))"
    }

    private static func excerpt(_ bytes: [UInt8], at offset: Int) -> String {
        guard offset < bytes.count else { return "the end" }
        let text = String(decoding: bytes[offset...].prefix(24), as: UTF8.self)
        return "'\(printable(text, limit: 24))'" + (bytes.count - offset > 24 ? "…" : "")
    }
}
