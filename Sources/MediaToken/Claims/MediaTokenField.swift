internal import Basics
internal import TokenXML

/// The fields of a media token that are read. A token may have each of them at most once.
package enum MediaTokenField: Int, CaseIterable {
    case sessionGUID, requestorID, resourceID, ttl, issueTime, mvpdID, proxyMVPDID

    /// The name of the field's element.
    package var name: StaticString { Self.names[rawValue] }
    /// Whether a token may lack the field. An empty element then counts as none.
    var isOptional: Bool { self == .ttl || self == .proxyMVPDID }

    static let names: [StaticString] = [
        "sessionGUID", "requestorID", "resourceID", "ttl", "issueTime", "mvpdId", "proxyMvpdId",
    ]
}

/// The elements that hold the fields of a media token, found in one pass.
struct MediaTokenFieldOccurrences {
    private enum Occurrence {
        case missing
        case once(index: Int)
        case several
    }

    private var occurrences = InlineArray<7, Occurrence>(repeating: .missing)
    /// Whether there are elements that the format does not define.
    private(set) var hasOthers = false

    /// The field whose name occurs in other upper and lower case; `nil` if there is none.
    private(set) var inOtherCase: StaticString?

    init(in fields: FieldElements) {
        // Elements deeper down never count, so an extra element cannot smuggle a field in.
        for (index, element) in fields.elements.list.enumerated() where element.depth > 0 {
            let name =
                element.depth == 1 ? MediaTokenField.names.firstIndex { fields.elements.isNamed($0, element) } : nil
            guard let name else {
                hasOthers = true
                if element.depth == 1, inOtherCase == nil { inOtherCase = Self.fieldInOtherCase(fields, element) }
                continue
            }
            if case .missing = occurrences[name] {
                occurrences[name] = .once(index: index)
            } else {
                occurrences[name] = .several
            }
        }
    }

    private static func fieldInOtherCase(_ fields: FieldElements, _ element: XMLElement) -> StaticString? {
        let name = fields.elements.name(of: element)
        return MediaTokenField.names.first { "\($0)".isSame(ignoringCaseOf: name) }
    }

    /// The index of the element that holds `field`; `nil` if the token has none.
    func index(of field: MediaTokenField) throws(ClaimsError) -> Int? {
        switch occurrences[field.rawValue] {
        case .missing: nil
        case .once(let index): index
        case .several: throw .field(XMLFieldError(field.name, .duplicate))
        }
    }
}

extension FieldElements {
    /// The element that holds `field`; `nil` if the token does not have it, or if the field is optional and empty.
    private func element(
        of field: MediaTokenField, _ occurrences: MediaTokenFieldOccurrences
    ) throws(ClaimsError) -> XMLElement? {
        guard let index = try occurrences.index(of: field) else { return nil }
        let element = elements.list[index]
        do { try check(element, named: field.name) } catch {
            guard field.isOptional, error.reason == .empty else { throw .field(error) }
            return nil
        }
        guard !field.isOptional || !element.isBlank else { throw .field(XMLFieldError(field.name, .blank)) }
        return element
    }

    /// The text of `field`; `nil` if the token does not have it. An optional field that is empty counts as absent.
    func optional(_ field: MediaTokenField, _ occurrences: MediaTokenFieldOccurrences) throws(ClaimsError) -> String? {
        try element(of: field, occurrences).map { elements.text(of: $0) }
    }

    /// The text of `field`, which the token must have.
    func required(_ field: MediaTokenField, _ occurrences: MediaTokenFieldOccurrences) throws(ClaimsError) -> String {
        guard let text = try optional(field, occurrences) else { throw .field(XMLFieldError(field.name, .missing)) }
        return text
    }

    /// The date in `field`, which the token must have.
    func requiredDate(
        _ field: MediaTokenField, _ occurrences: MediaTokenFieldOccurrences, form: TokenDate.Form
    ) throws(ClaimsError) -> TokenDate {
        guard let element = try element(of: field, occurrences) else {
            throw .field(XMLFieldError(field.name, .missing))
        }
        guard let date = elements.withText(of: element, { TokenDate($0, form: form) }) else {
            throw .date(field: "\(field.name)", text: elements.text(of: element), form: form.rawValue)
        }
        return date
    }

    /// The TTL, which must be digits only: no sign, no exponent, no white space, no leading zero. `nil` if the
    /// token has none, or an empty one.
    func timeToLive(_ occurrences: MediaTokenFieldOccurrences) throws(ClaimsError) -> Int64? {
        guard let element = try element(of: .ttl, occurrences) else { return nil }
        let milliseconds = elements.withText(of: element) { text -> Int64? in
            guard text.first != UInt8(ascii: "0"), text.count <= 19 else { return nil }
            var value: UInt64 = 0
            for byte in text {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
            }
            return Int64(exactly: value)
        }
        guard let milliseconds else { throw .timeToLive(elements.text(of: element)) }
        return milliseconds
    }
}
