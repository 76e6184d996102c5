internal import TextEncodings
internal import TokenXML

/// The body of an answer in a dialect, with placeholders such as `{token}`. A value is escaped as the body's media type
/// demands, so it never ends the string or element that it stands in.
package struct AnswerTemplate: Sendable, Equatable {
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

    private enum Part: Equatable {
        case literal(String)
        case value(Placeholder)
    }

    private enum Escaping {
        case json, xml, form, text

        init?(_ type: String) {
            let name = type.prefix { $0 != ";" }.lowercased().trimmingSuffix(" ")
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
            // It counts scalars, since a mark would make one character of itself and the quotation mark before it.
            case .json: String(JSONValue.text(value).document.unicodeScalars.dropFirst().dropLast())
            case .xml: value.unicodeScalars.map(Self.xml).joined()
            case .form: PercentEncoding.encode(value)
            case .text: printable(value, limit: .max)
            }
        }

        /// A character in XML text or an attribute. XML 1.0 cannot write a control character, not even as an escape.
        private static func xml(_ scalar: Unicode.Scalar) -> String {
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            case ..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: String(scalar)
            }
        }
    }

    /// The media type of the body.
    let type: String
    private let escaping: Escaping
    private let parts: [Part]

    /// The media types of bodies, for error messages.
    static let types =
        "application/json, application/xml, text/xml, …+json, …+xml, application/x-www-form-urlencoded, text/plain"

    /// The placeholders that the body has.
    package var placeholders: Set<Placeholder> {
        Set(parts.compactMap { if case .value(let placeholder) = $0 { placeholder } else { nil } })
    }

    /// - Parameters:
    ///   - text: The body, with placeholders in braces. Other braces stand for themselves.
    ///   - type: The media type of the body.
    /// - Throws: What is wrong with the type or the text.
    package init(_ text: String, type: String) throws(AnswerTemplateError) {
        guard let escaping = Escaping(type), type.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw AnswerTemplateError("type", "is '\(printable(type))'; expected \(Self.types)")
        }
        (self.type, self.escaping) = (type, escaping)
        parts = try Self.parts(of: text)
        try checkForm()
    }

    private static func parts(of text: String) throws(AnswerTemplateError) -> [Part] {
        var (parts, literal, rest) = ([Part](), "", Substring(text))
        while let brace = rest.firstIndex(of: "{") {
            literal += rest[..<brace]
            let name = rest[rest.index(after: brace)...].prefix { $0.isASCII && $0.isLetter }
            let isClosed = !name.isEmpty && rest[name.endIndex...].first == "}"
            guard isClosed else {
                literal += "{"
                rest = rest[rest.index(after: brace)...]
                continue
            }
            guard let placeholder = Placeholder(rawValue: String(name)) else {
                let names = Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                throw AnswerTemplateError("body", "has the placeholder {\(printable(String(name)))}; expected \(names)")
            }
            parts += [.literal(literal), .value(placeholder)]
            literal = ""
            rest = rest[rest.index(after: name.endIndex)...]
        }
        return parts + [.literal(literal + rest)]
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

    /// Refuses a body that is not of its type, whatever the values are. A placeholder outside of a JSON string, or in the
    /// name of an XML element, would let a value change the answer.
    private func checkForm() throws(AnswerTemplateError) {
        var values = Dictionary(uniqueKeysWithValues: Placeholder.allCases.map { ($0, Self.hostile) })
        // The only value that is a number, which may stand without quotes.
        values[.expires] = "253402300799"
        let body = body(values)[...]
        switch escaping {
        case .json:
            do throws(JSONError) { _ = try StrictJSON.readObject(body) } catch {
                throw AnswerTemplateError(
                    "body", "is no JSON object with its placeholders in strings: \(error.reason)")
            }
        case .xml:
            do throws(XMLError) { _ = try StrictXMLReader().read(body, allowsDeclaration: true) } catch {
                throw AnswerTemplateError("body", "is no XML with its placeholders in texts: \(error.message)")
            }
        case .form, .text: break
        }
    }

    private static let hostile = "a\"'\\&<>{}]]>, \u{1}%"
}

/// What is wrong with the body of an answer or its media type.
package struct AnswerTemplateError: Error, Equatable, Sendable {
    /// The name of the setting.
    package let setting: String
    package let reason: String

    init(_ setting: String, _ reason: String) { (self.setting, self.reason) = (setting, reason) }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        String(self[..<(lastIndex { $0 != character }.map { index(after: $0) } ?? startIndex)])
    }
}
