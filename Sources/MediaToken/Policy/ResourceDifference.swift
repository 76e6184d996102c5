internal import Basics
internal import ClaimsStage
internal import TokenXML

/// The difference between a signed resource and the expected ones, described for the person who has to find the cause.
struct ResourceDifference: Sendable {
    /// The expected resource that has the longest prefix in common with the signed one, in canonical form if both have
    /// one.
    let expected: ResourceID
    /// One line on what differs.
    let message: String
    /// Whether the message says more than the two resources, and comes before them.
    let comesFirst: Bool

    private static let valueLimit = 40
    private static let pathLimit = 160

    /// Finds the nearest expected resource; `nil` if the rule names no resource.
    init?(between signed: ResourceID, and rule: ResourceRule) {
        let signedForm = signed.canonicalForm
        let candidates = rule.resources.map { resource in
            let form = signedForm.flatMap { _ in resource.canonicalForm }
            let common = form.flatMap { form in signedForm.map { Self.commonPrefix(form, $0) } }
            return (resource, form, common ?? Self.commonPrefix(Array(resource.text.utf8), Array(signed.text.utf8)))
        }
        // Unreached: Only an empty list of resources has no nearest one; the properties' rules name some, or accept
        // any.
        guard let (expected, form, _) = candidates.max(by: { $0.2 < $1.2 }) else { return nil }
        self.expected = expected
        guard let form, let signedForm else {
            (message, comesFirst) = (Self.plainDifference(expected, signed), false)
            return
        }
        guard let difference = CanonicalDifference(between: form, and: signedForm) else {
            (message, comesFirst) = (Self.markupDifference(expected, signed), true)
            return
        }
        let note = rule.comparison == .exact ? "; canonical comparison would not match either" : ""
        (message, comesFirst) = (Self.words(difference) + note, true)
    }

    private static func words(_ difference: CanonicalDifference) -> String {
        let path = printable(difference.path, limit: .max)
        let place = path.count > pathLimit ? "…" + path.suffix(pathLimit) : path
        switch difference.kind {
        case .values(let expected, let found):
            let (expected, found) = (Array(expected.utf8), Array(found.utf8))
            // A little of what the values have in common shows where in them they differ.
            let begin = max(0, commonPrefix(expected, found) - valueLimit / 2)
            return
                "\(place): expected \(excerpt(expected, at: begin, isCut: true)), signed \(excerpt(found, at: begin, isCut: true))"
        case .otherElement(let found):
            return "\(place): expected this element, signed '\(printable(found, limit: valueLimit))' in its place"
        case .missing: return "\(place): expected, and not in the signed resource"
        case .extra: return "\(place): signed, and not in the expected resource"
        }
    }

    private static func markupDifference(_ expected: ResourceID, _ signed: ResourceID) -> String {
        let details = CanonicalXML.details(between: Array(expected.text.utf8), and: Array(signed.text.utf8))
        let names = MarkupDetail.allCases.filter(details.contains).map(\.rawValue)
        return "only \(names.joined(separator: ", ")) differ; canonical comparison would match (--canonical-resource)"
    }

    private static func plainDifference(_ expected: ResourceID, _ signed: ResourceID) -> String {
        if let likeness = TextLikeness(of: expected.text, and: signed.text) { return likeness.rawValue }
        let (bytes, others) = (Array(expected.text.utf8), Array(signed.text.utf8))
        var offset = commonPrefix(bytes, others)
        // The bytes of a character belong together.
        // Unreached: Two characters that begin with the same bytes; in each property, the expected resource or the
        // signed one is ASCII.
        while offset > 0, [bytes, others].contains(where: { offset < $0.count && $0[offset] & 0xC0 == 0x80 }) {
            offset -= 1
        }
        let isMarkup = [bytes, others].contains { $0.first == UInt8(ascii: "<") }
        return
            "first difference at byte \(offset): expected \(excerpt(bytes, at: offset))\(codePoint(bytes, at: offset)), "
            + "signed \(excerpt(others, at: offset))\(codePoint(others, at: offset))"
            + (isMarkup ? "; canonical comparison does not apply, as not both are XML that has a canonical form" : "")
    }

    /// The number of the character at `offset`, which may look like another one; empty for ASCII.
    private static func codePoint(_ bytes: [UInt8], at offset: Int) -> String {
        let scalar = String(decoding: bytes.dropFirst(offset).prefix(4), as: UTF8.self).unicodeScalars.first
        guard let scalar, !scalar.isASCII else { return "" }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return " (U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits))"
    }

    private static func commonPrefix(_ left: [UInt8], _ right: [UInt8]) -> Int {
        zip(left, right).prefix { $0 == $1 }.count
    }

    private static func excerpt(_ bytes: [UInt8], at offset: Int, isCut: Bool = false) -> String {
        guard offset < bytes.count || offset == 0 else { return "the end" }
        let text = String(decoding: bytes[offset...].prefix(valueLimit), as: UTF8.self)
        // The ellipsis stays inside the quotes: the log finds values by their opening quote.
        return "'\(isCut && offset > 0 ? "…" : "")\(printable(text, limit: valueLimit))'"
            + (bytes.count - offset > valueLimit ? "…" : "")
    }
}

/// In what alone two texts differ that a person may take for the same.
enum TextLikeness: String {
    case letterCase = "they differ in case only"
    case normalization =
        "they differ in Unicode normalization only (an accent as a letter's part, NFC, or behind it, NFD)"

    /// The length of a text up to which normalization is compared, which takes long for a text of accents alone.
    private static let limit = 512

    /// `nil` if the texts differ in more, or not at all.
    init?(of text: String, and other: String) {
        // Unreached: Texts with the same bytes match, so nobody asks for their difference.
        guard !text.hasSameBytes(as: other) else { return nil }
        if text.isSame(ignoringCaseOf: other) {
            self = .letterCase
        } else if text.utf8.count <= Self.limit, other.utf8.count <= Self.limit, text == other {
            // Unreached: Two normal forms of one text; what the properties expect, or what is signed, has but one.
            // Strings are equal if their normal forms are.
            self = .normalization
        } else {
            return nil
        }
    }
}
