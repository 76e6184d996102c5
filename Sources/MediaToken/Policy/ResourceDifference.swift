internal import ClaimsStage
internal import TextEncodings

/// The difference between a signed resource and the expected ones, described for the person who has to find the cause.
struct ResourceDifference: Sendable {
    /// The expected resource that has the longest prefix in common with the signed one.
    let expected: ResourceID
    private let signed: ResourceID
    private let rule: ResourceRule

    /// Finds the nearest expected resource; `nil` if the rule names no resource.
    init?(between signed: ResourceID, and rule: ResourceRule) {
        let nearest = rule.resources.max {
            Self.commonPrefix(Array($0.text.utf8), Array(signed.text.utf8))
                < Self.commonPrefix(Array($1.text.utf8), Array(signed.text.utf8))
        }
        guard let nearest else { return nil }
        (expected, self.signed, self.rule) = (nearest, signed, rule)
    }

    var message: String {
        guard let expectedForm = expected.canonicalForm, let signedForm = signed.canonicalForm else {
            return plainDifference
                + "; canonical comparison does not apply, as not both are XML that has a canonical form"
        }
        if rule.comparison == .canonical { return "in canonical form, " + Self.difference(expectedForm, signedForm) }
        let wouldMatch =
            expectedForm == signedForm
            || rule.resources.contains { $0 != expected && $0.canonicalForm == signedForm }
        return plainDifference + "; canonical comparison would "
            + (wouldMatch ? "match (--canonical-resource)" : "not match either")
    }

    private var plainDifference: String {
        Self.difference(Array(expected.text.utf8), Array(signed.text.utf8))
    }

    private static func difference(_ expected: [UInt8], _ signed: [UInt8]) -> String {
        let offset = commonPrefix(expected, signed)
        return "first difference at byte \(offset): expected \(excerpt(expected, at: offset)), "
            + "signed \(excerpt(signed, at: offset))"
    }

    private static func commonPrefix(_ left: [UInt8], _ right: [UInt8]) -> Int {
        zip(left, right).prefix { $0 == $1 }.count
    }

    private static func excerpt(_ bytes: [UInt8], at offset: Int) -> String {
        guard offset < bytes.count else { return "the end" }
        let text = String(decoding: bytes[offset...].prefix(24), as: UTF8.self)
        return "'\(printable(text, limit: 24))'" + (bytes.count - offset > 24 ? "…" : "")
    }
}
