internal import TextEncodings
internal import TokenXML

/// The fields of a media token that are read; each may be there once at the most.
enum MediaTokenField: Int {
    case sessionGUID, requestorID, resourceID, ttl, issueTime, mvpdID, proxyMVPDID

    /// Of its element.
    var name: StaticString { Self.names[rawValue] }

    static let names: [StaticString] = [
        "sessionGUID", "requestorID", "resourceID", "ttl", "issueTime", "mvpdId", "proxyMvpdId",
    ]
}

/// Where the fields of a media token are among its elements, found in one pass over them.
struct MediaTokenFieldPlaces {
    private enum Place {
        case missing
        case once(XMLElement)
        case several
    }

    private var places = InlineArray<7, Place>(repeating: .missing)
    /// Whether there are elements that the format does not know.
    private(set) var hasOthers = false

    /// A field whose name is there in other upper and lower case.
    private(set) var inOtherCase: StaticString?

    init(in fields: FieldElements) {
        // Elements deeper down never count: an extra element cannot smuggle a field in.
        for element in fields.elements.list where element.depth > 0 {
            let name =
                element.depth == 1 ? MediaTokenField.names.firstIndex { fields.elements.isNamed($0, element) } : nil
            guard let name else {
                hasOthers = true
                if element.depth == 1, inOtherCase == nil { inOtherCase = Self.fieldInOtherCase(fields, element) }
                continue
            }
            if case .missing = places[name] { places[name] = .once(element) } else { places[name] = .several }
        }
    }

    private static func fieldInOtherCase(_ fields: FieldElements, _ element: XMLElement) -> StaticString? {
        let name = fields.elements.name(of: element).lowercased()
        return MediaTokenField.names.first { "\($0)".lowercased().hasSameBytes(as: name) }
    }

    /// The element that holds a field; `nil` where there is none.
    func element(_ field: MediaTokenField) throws(FormatProblem) -> XMLElement? {
        switch places[field.rawValue] {
        case .missing: nil
        case .once(let element): element
        case .several: throw .field("\(field.name)", .duplicate)
        }
    }
}

extension FieldElements {
    /// The text of a field; `nil` where the token does not have it.
    func optional(_ field: MediaTokenField, _ places: MediaTokenFieldPlaces) throws(FormatProblem) -> String? {
        guard let element = try places.element(field) else { return nil }
        try check(element, named: field.name)
        return elements.text(of: element)
    }

    /// The text of a field.
    func required(_ field: MediaTokenField, _ places: MediaTokenFieldPlaces) throws(FormatProblem) -> String {
        guard let text = try optional(field, places) else { throw .field("\(field.name)", .missing) }
        return text
    }

    /// The date in a field.
    func requiredDate(
        _ field: MediaTokenField, _ places: MediaTokenFieldPlaces, form: TokenDate.Form
    ) throws(FormatProblem) -> TokenDate {
        guard let element = try places.element(field) else { throw .field("\(field.name)", .missing) }
        try check(element, named: field.name)
        guard let date = elements.withText(of: element, { TokenDate($0, form: form) }) else {
            throw .field("\(field.name)", .date(form: form.rawValue))
        }
        return date
    }
}
