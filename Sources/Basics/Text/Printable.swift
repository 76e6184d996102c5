/// Makes `text` safe to show in a terminal, a log line or a header. Control characters, line breaks, and invisible or
/// direction-changing characters are escaped, and text longer than `limit` is cut. The contents of a token are
/// untrusted even if the token is signed.
package func printable(_ text: String, limit: Int = 120) -> String {
    // Nearly all texts are plain ASCII, for which this takes a tenth of the time.
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
        return text.utf8.count > limit ? text.prefix(limit) + "…" : text
    }
    var shown = ""
    for (position, scalar) in text.unicodeScalars.enumerated() {
        if position == limit { return shown + "…" }
        if scalar.isPlain { shown.unicodeScalars.append(scalar) } else { shown += scalar.escaped }
    }
    return shown
}

/// Makes a JSON document safe to show in a terminal without changing what it says: characters that
/// ``printable(_:limit:)`` escapes become escapes of JSON (RFC 8259, 7).
package func printable(json: String) -> String {
    guard !json.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return json }
    return json.unicodeScalars.reduce(into: "") { shown, scalar in
        guard !scalar.isPlain, scalar != "\n" else { return shown.unicodeScalars.append(scalar) }
        for unit in UTF16.encode(scalar) ?? .init() {
            let digits = String(unit, radix: 16)
            shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

/// Lists expected values in a message, at most eight of them, so that a long list stays one readable line. The values
/// must already be printable.
package func printableList(_ values: [String]) -> String {
    let shown = values.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
    switch values.count {
    case 0: return "none"
    case 1: return shown
    case ...8: return "one of \(shown)"
    default: return "one of \(shown) and \(values.count - 8) more"
    }
}

extension Unicode.Scalar {
    fileprivate var isPlain: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        // A no-break space looks like a blank, and a Hangul filler like nothing.
        case .spaceSeparator: self == " "
        default: !properties.isDefaultIgnorableCodePoint
        }
    }

    fileprivate var escaped: String { "\\u{" + String(value, radix: 16) + "}" }
}

/// Escapes what XML (1.0, 2.4) and HTML give a meaning to, in texts and in quoted attributes.
///
/// It works on scalars, because `String` treats a `<` and a combining character after it as another character.
package func xmlEscaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: "\(scalar)"
        }
    }.joined()
}
