internal import TextEncodings

/// A grant as it was captured: a query, a URL that ends in one, or lines of headers.
package enum CapturedGrant {
    /// The fields of the grant as a query, or the value of its only field.
    ///
    /// - Parameter name: the name of the only field that a grant of its kind has; `nil` if such a grant has several
    ///   fields. Other fields in the text are ignored.
    package static func query(_ text: String, named name: String?) -> String {
        let lines = text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            String(Substring(line.drop(while: \.isASCIIWhiteSpace)))
        }
        let found = lines.map(fields)
        // The text is the query itself, possibly folded.
        guard found.contains(where: { $0 != nil }) else {
            return String(decoding: text.utf8.filter { !$0.isASCIIWhiteSpace }, as: UTF8.self)
        }
        let all = found.compactMap(\.self).joined()
        guard let name else { return all.map { $0.name + "=" + $0.value }.joined(separator: "&") }
        return all.first { $0.name.isSame(ignoringCaseOf: name) }?.value ?? ""
    }

    /// The fields of a header or a URL; `nil` for anything else.
    private static func fields(_ line: String) -> [(name: String, value: String)]? {
        let name = line.utf8.prefix(while: \.isTokenCharacter)
        let rest = line.utf8.dropFirst(name.count)
        if rest.starts(with: "://".utf8) || ["/", "?"].contains(where: { line.utf8.starts(with: $0.utf8) }) {
            let query = line.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
            return query.split(separator: UInt8(ascii: "&")).map(pair)
        }
        guard !name.isEmpty, rest.first == UInt8(ascii: ":") else { return nil }
        let (header, value) = (String(Substring(name)), trimmed(rest.dropFirst()))
        let cookies = value.utf8.split(separator: UInt8(ascii: ";")).map(pair)
        if header.isSame(ignoringCaseOf: "Cookie") { return cookies }
        // The rest of the header describes the cookie.
        if header.isSame(ignoringCaseOf: "Set-Cookie") { return Array(cookies.prefix(1)) }
        return [(header, value)]
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String) {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        return (trimmed(name), trimmed(text.dropFirst(name.count + 1)))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String { String(Substring(text.trimmingBlanks())) }
}
