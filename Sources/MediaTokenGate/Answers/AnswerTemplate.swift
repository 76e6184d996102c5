internal import Basics
internal import TokenXML

/// The body of an answer in a dialect, with placeholders such as `{token}`. A value is escaped as the body's media type
/// demands, so it never ends the string or element that it stands in.
package struct AnswerTemplate: Sendable {
    /// A value that an answer can have in its body.
    package enum Placeholder: String, Sendable, CaseIterable {
        /// The value of the playback grant.
        case token
        /// The stream's URL with the grant, if the grant is delivered in its query.
        case url
        /// The expiry of the grant, or of the token without one, in seconds since 1970.
        case expires
        /// The code of the answer, such as `TOKEN_EXPIRED`.
        case code
        /// One line that says why the token is rejected, or why there is no decision.
        case detail
    }

    typealias Values = [Placeholder: String]

    private enum Part {
        case literal(String)
        case value(Placeholder)
    }

    private enum Escaping {
        case json, xml, form, text

        /// Reads a media type, with `charset=utf-8` or without; `nil` for one in which values cannot be escaped.
        init?(_ type: String) {
            let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false)
            let name = parts[0].withoutSpaces
            guard parts.dropFirst().allSatisfy({ $0.withoutSpaces == "charset=utf-8" }), parts.count < 3 else {
                return nil
            }
            switch name {
            case "application/json": self = .json
            case "application/xml", "text/xml": self = .xml
            case "application/x-www-form-urlencoded": self = .form
            case "text/plain": self = .text
            case _ where name.hasSuffix("+json"): self = .json
            case _ where name.hasSuffix("+xml"): self = .xml
            default: return nil
            }
        }

        func escape(_ value: String) -> String {
            switch self {
            // Drops the quotation marks as scalars: as a character, one would include a combining mark beside it.
            case .json: String(JSONValue.text(value).document.unicodeScalars.dropFirst().dropLast())
            case .xml: xmlEscaped(String(String.UnicodeScalarView(value.unicodeScalars.map(Self.inXML))))
            case .form: PercentEncoding.encode(value)
            case .text: printable(value, limit: .max)
            }
        }

        /// XML 1.0 cannot write a control character, not even as an escape.
        private static func inXML(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
            switch scalar {
            case ..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: scalar
            }
        }
    }

    /// The media type of the body.
    let type: String
    private let escaping: Escaping
    private let parts: [Part]

    /// The media types of bodies, for error messages.
    static let types =
        "application/json, application/xml, text/xml, …+json, …+xml, application/x-www-form-urlencoded or text/plain, with "
        + "charset=utf-8 or without"

    /// The placeholders that the body has.
    package let placeholders: Set<Placeholder>

    /// - Parameters:
    ///   - text: The body, with placeholders in braces. Other braces stand for themselves.
    ///   - type: The media type of the body.
    ///   - known: The placeholders for which the answer has a value.
    /// - Throws: What is wrong with the type or the text.
    package init(_ text: String, type: String, filling known: Set<Placeholder>) throws(AnswerTemplateError) {
        guard let escaping = Escaping(type), type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw AnswerTemplateError("type", "is '\(printable(type))'; expected \(Self.types)")
        }
        (self.type, self.escaping) = (type, escaping)
        parts = try Self.parts(of: text, known)
        placeholders = Set(parts.compactMap { if case .value(let placeholder) = $0 { placeholder } else { nil } })
        try checkForm(of: text)
    }

    private static func parts(of text: String, _ known: Set<Placeholder>) throws(AnswerTemplateError) -> [Part] {
        var (parts, literal, rest) = ([Part](), "", Substring(text))
        while let brace = rest.firstIndex(of: "{") {
            literal += rest[..<brace]
            let name = rest[rest.index(after: brace)...].prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-")
            }
            let isPlaceholder = name.first?.isLetter == true && rest[name.endIndex...].first == "}"
            guard isPlaceholder else {
                literal += "{"
                rest = rest[rest.index(after: brace)...]
                continue
            }
            guard let placeholder = Placeholder(rawValue: String(name)), known.contains(placeholder) else {
                let names = Placeholder.allCases.filter(known.contains).map { "{\($0.rawValue)}" }
                throw AnswerTemplateError(
                    "body",
                    "has {\(printable(String(name)))}, for which this answer has no value; expected "
                        + names.joined(separator: ", "))
            }
            parts += [.literal(literal), .value(placeholder)]
            literal = ""
            rest = rest[rest.index(after: name.endIndex)...]
        }
        return parts + [.literal(literal + rest)]
    }

    /// What is the same in every body: the text between the values, without white space. JSON is in one form, however
    /// its members are ordered and its characters escaped.
    var skeleton: String {
        // Without a value, a number outside of quotation marks is no JSON.
        for values: Values in [[:], [.expires: "0"]] where escaping == .json {
            guard let object = try? StrictJSON.readObject(body(values)[...]) else { continue }
            return JSONValue.object(object.members).document
        }
        return String(decoding: body([:]), as: UTF8.self).filter { !$0.isWhitespace }
    }

    /// The body with the values in their places. A placeholder without a value is empty.
    func body(_ values: Values) -> [UInt8] {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .value(let placeholder): text += escaping.escape(values[placeholder] ?? "")
            }
        }
        return Array(text.utf8)
    }

    /// Refuses a body that is not of its type, whatever the values are. A placeholder outside of a JSON string, or in
    /// the name of an XML element, would let a value change the answer.
    private func checkForm(of text: String) throws(AnswerTemplateError) {
        var values = Dictionary(uniqueKeysWithValues: placeholders.map { ($0, Self.hostile) })
        // The only value that is a number, which may stand without quotes.
        if placeholders.contains(.expires) { values[.expires] = "253402300799" }
        let body = body(values)[...]
        switch escaping {
        case .json:
            let members: [JSONName: JSONValue]
            do throws(JSONError) { members = try StrictJSON.readObject(body).members } catch {
                throw AnswerTemplateError(
                    "body", "is no JSON object with its placeholders in strings: \(error.reason)")
            }
            guard !JSONValue.object(members).names.contains(where: { $0.contains(Self.hostile) }) else {
                throw AnswerTemplateError("body", "has a placeholder in the name of a member; expected it in a value")
            }
        case .xml:
            // In a section, references stand for themselves, so a value would not arrive as it is.
            guard !text.contains("<![CDATA[") else {
                throw AnswerTemplateError("body", "has a CDATA section; expected elements, attributes and text")
            }
            // Nothing else in a declaration has this word, in whichever way the equals sign behind it is written.
            guard !text.hasPrefix("<?xml") || !text.prefix(while: { $0 != ">" }).contains("encoding") else {
                throw AnswerTemplateError("body", "declares its encoding; expected no encoding, as bodies are UTF-8")
            }
            do throws(XMLError) { _ = try StrictXMLReader().read(body, allowsDeclaration: true) } catch {
                throw AnswerTemplateError("body", "is no XML with its placeholders in texts: \(error.message)")
            }
        case .form, .text: break
        }
    }

    private static let hostile = "a\"'\\&<>{}]]>, \u{1}%"
}

/// What is wrong with the body of an answer or its media type.
package struct AnswerTemplateError: Error, Sendable {
    /// The name of the setting.
    package let setting: String
    package let reason: String

    init(_ setting: String, _ reason: String) { (self.setting, self.reason) = (setting, reason) }
}

extension Substring {
    /// The text without the spaces around it, and with one space where it has several.
    fileprivate var withoutSpaces: String { split(separator: " ").joined(separator: " ") }
}

extension JSONValue {
    /// The names of all members, at any depth.
    fileprivate var names: [String] {
        switch self {
        case .object(let members): members.keys.map(\.text) + members.values.flatMap(\.names)
        case .list(let items): items.flatMap(\.names)
        default: []
        }
    }
}
