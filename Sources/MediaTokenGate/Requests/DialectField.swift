internal import Basics
internal import HTTP

/// Where a request in a dialect has a value, and whether it is Base64 there: `query:accessToken`, `form:token`,
/// `header:X-Token`, `json:play.token`, `json:token;base64`.
package struct DialectField: Sendable {
    enum Part: String, Sendable {
        case query, form, header, json
    }

    let part: Part
    /// The name of the field or, in JSON, the names on the way to the member.
    let names: [String]
    /// The name of the header field, where ``part`` is one.
    let field: HTTPFieldName
    let isBase64: Bool
    /// The place as it is configured.
    package let text: String

    /// The forms of a place, for error messages.
    package static let forms =
        "query:NAME, form:NAME, header:NAME or json:NAME[.NAME…], and ;base64 behind it if it is Base64"

    /// Reads a place; `nil` if `text` is none.
    package init?(_ text: String) {
        let mark = ";base64"
        isBase64 = text.hasSuffix(mark)
        let place = isBase64 ? text.dropLast(mark.count) : Substring(text)
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        guard let colon = place.firstIndex(of: ":"), let part = Part(rawValue: String(place[..<colon])) else {
            return nil
        }
        let name = String(place[place.index(after: colon)...])
        names = part == .json ? name.split(separator: ".", omittingEmptySubsequences: false).map(String.init) : [name]
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        guard !names.contains(""), !name.contains(";") else { return nil }
        // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
        guard part != .header || name.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
        (self.part, field, self.text) = (part, HTTPFieldName(name), text)
    }

    /// Whether the value is in the request's body.
    var isInBody: Bool { part == .form || part == .json }

    // Unreached: Refuses a dialect when the gate starts; the properties' dialects are sound.
    /// Whether one value could be read for both places.
    func meets(_ other: DialectField) -> Bool {
        guard part == other.part else { return false }
        if part == .header { return names[0].isSame(ignoringCaseOf: other.names[0]) }
        return zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

/// The values of one request in a dialect.
struct DialectValues {
    private let request: HTTPRequest
    private let places: [Dialect.Value: DialectField]
    private let query: FormFields
    private var form: FormFields?
    private var json: JSONObject?

    /// Reads the parts of the request that the places are in. The dialect alone decides how the body is read: clients
    /// label JSON as a form, or as nothing.
    init(_ request: HTTPRequest, at places: [Dialect.Value: DialectField]) throws(RequestError) {
        query = try FormFields.whole(request.query ?? [], of: "query")
        (self.request, self.places) = (request, places)
        guard let place = places.values.first(where: \.isInBody) else {
            guard request.body.isEmpty else { throw .invalid("the request has a body; expected none") }
            return
        }
        _ = try VerifyRequestBody.mediaType(request)
        if place.part == .form {
            form = try VerifyRequestBody.form(request.body)
        } else {
            do { json = try StrictJSON.readObject(request.body) } catch {
                throw .invalid("the JSON cannot be read: \(error.reason)")
            }
        }
    }

    // Unreached: Asked for a value that has a place; the default only satisfies the type.
    /// The place of a value, as it is configured.
    func place(_ value: Dialect.Value) -> String { places[value]?.text ?? "" }

    /// A value that the request must have; it throws too if the dialect has no place for it.
    func required(_ value: Dialect.Value) throws(RequestError) -> String {
        // Unreached: A dialect without it is refused when the gate starts.
        guard let text = try self.value(value) else { throw .invalid("no \(value.rawValue) is read in this dialect") }
        return text
    }

    /// A value, which the request must have once if the dialect has a place for it; `nil` if it has none.
    func value(_ value: Dialect.Value) throws(RequestError) -> String? {
        guard let place = places[value] else { return nil }
        let name = value.rawValue
        let values = try texts(at: place)
        guard values.count <= 1 else {
            throw .invalid("the \(name) is given \(values.count) times; expected it once, as \(place.text)")
        }
        guard let value = values.first else {
            throw .invalid("no \(name) is given; expected it as \(place.text)")
        }
        guard let value else {
            throw .invalid("the \(name) cannot be decoded; expected UTF-8, as \(place.text)")
        }
        guard !value.isEmpty else { throw .invalid("the \(name) is empty; expected it as \(place.text)") }
        guard place.isBase64 else { return value }
        let digits = Base64.withoutLineBreaks(Array(value.utf8)[...])
        let bytes: [UInt8]
        do { bytes = try Base64.decode(digits, alphabet: .standard, padding: .optional) } catch {
            throw .invalid("the \(name) is no Base64: \(error.reason); expected it as \(place.text)")
        }
        guard !bytes.isEmpty, let decoded = String(validating: bytes, as: UTF8.self) else {
            throw .invalid("the \(name) is Base64 of bytes that are not UTF-8; expected UTF-8, as \(place.text)")
        }
        return decoded
    }

    /// The values at a place, before Base64 is taken off. A value is `nil` if it cannot be decoded.
    private func texts(at place: DialectField) throws(RequestError) -> [String?] {
        // Base64 has no spaces, so a plus sign that a client forgot to escape is one.
        let plus = place.isBase64 ? UInt8(ascii: "+") : UInt8(ascii: " ")
        switch place.part {
        case .query: return query.encoded(place.names[0]).map { String(percentEncoded: $0, plus: plus) }
        case .form:
            // Unreached: A form is read wherever a place is in one; the default only satisfies the type.
            return (form?.encoded(place.names[0]) ?? []).map { String(percentEncoded: $0, plus: plus) }
        case .header:
            // A replacement character stands for bytes that were not UTF-8 when a proxy read them.
            return request.values(of: place.field).map { String(utf8: $0).flatMap { $0.holdsReplacement ? nil : $0 } }
        case .json:
            do throws(JSONError) {
                var object = json
                for name in place.names.dropLast() { object = try object?.object(name) }
                // Unreached: A place in JSON has a name; the default only satisfies the type.
                return try object?.text(place.names.last ?? "").map { [$0] } ?? []
            } catch {
                throw .invalid("the JSON cannot be read: \(error.reason)")
            }
        }
    }
}
