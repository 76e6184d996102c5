internal import TextEncodings
internal import TokenXML

/// The fields of a media token that are read. A token may have each of them at most once.
package enum MediaTokenField: Int {
    case sessionGUID, requestorID, resourceID, ttl, issueTime, mvpdID, proxyMVPDID

    /// The name of the field's element.
    package var name: StaticString { Self.names[rawValue] }

    static let names: [StaticString] = [
        "sessionGUID", "requestorID", "resourceID", "ttl", "issueTime", "mvpdId", "proxyMvpdId",
    ]
}

/// The elements that hold the fields of a media token, found in one pass.
struct MediaTokenFieldPlaces {
    private enum Place {
        case missing
        case once(XMLElement)
        case several
    }

    private var places = InlineArray<7, Place>(repeating: .missing)
    /// Whether there are elements that the format does not define.
    private(set) var hasOthers = false

    /// The field whose name occurs in other upper and lower case; `nil` if there is none.
    private(set) var inOtherCase: StaticString?

    init(in fields: FieldElements) {
        // Elements deeper down never count, so an extra element cannot smuggle a field in.
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

    /// The element that holds `field`; `nil` if the token has none.
    func element(_ field: MediaTokenField) throws(ClaimsError) -> XMLElement? {
        switch places[field.rawValue] {
        case .missing: nil
        case .once(let element): element
        case .several: throw .field(XMLFieldError(field.name, .duplicate))
        }
    }
}

extension FieldElements {
    /// The text of `field`; `nil` if the token does not have it.
    func optional(_ field: MediaTokenField, _ places: MediaTokenFieldPlaces) throws(ClaimsError) -> String? {
        guard let element = try places.element(field) else { return nil }
        do { try check(element, named: field.name) } catch { throw .field(error) }
        return elements.text(of: element)
    }

    /// The text of `field`, which the token must have.
    func required(_ field: MediaTokenField, _ places: MediaTokenFieldPlaces) throws(ClaimsError) -> String {
        guard let text = try optional(field, places) else { throw .field(XMLFieldError(field.name, .missing)) }
        return text
    }

    /// The date in `field`, which the token must have.
    func requiredDate(
        _ field: MediaTokenField, _ places: MediaTokenFieldPlaces, form: TokenDate.Form
    ) throws(ClaimsError) -> TokenDate {
        guard let element = try places.element(field) else { throw .field(XMLFieldError(field.name, .missing)) }
        do { try check(element, named: field.name) } catch { throw .field(error) }
        guard let date = elements.withText(of: element, { TokenDate($0, form: form) }) else {
            throw .date(field: "\(field.name)", form: form.rawValue)
        }
        return date
    }
}
