internal import TextEncodings

/// A grant as it was captured: the grant itself, a query, a URL with the grant, or lines of headers.
package struct CapturedGrant {
    /// The fields of headers and URLs; `nil` if the text is neither.
    private let fields: [(name: String, value: String)]?
    /// The text without white space, which a captured text may be folded with.
    private let bare: String

    package init(_ text: String) {
        let lines = text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            String(Substring(line.drop(while: \.isASCIIWhiteSpace)))
        }
        let found = lines.compactMap(Self.fields)
        fields = found.isEmpty ? nil : Array(found.joined())
        bare = String(decoding: text.utf8.filter { !$0.isASCIIWhiteSpace }, as: UTF8.self)
    }

    /// The grant of a kind: all fields as a query, or the value of the only field. Other fields in the text are ignored.
    ///
    /// - Parameter name: The name of the only field; `nil` for the first field whose value has the form of the kind.
    package func grant(of kind: any GrantScheme.Type, named name: String? = nil) -> String {
        guard kind.hasOneField else {
            return fields.map { $0.map { $0.name + "=" + $0.value }.joined(separator: "&") } ?? bare
        }
        let candidates = (fields ?? [Self.pair(bare.utf8[...]), ("", bare)]).filter { field in
            name.map { field.name.isSame(ignoringCaseOf: $0) || field.name.isEmpty } ?? true
        }
        let values = candidates.map(\.value)
        if let value = values.first(where: { kind.contents(of: $0) != nil }) { return value }
        // No value has the form. In NAME=exp=…, the name is none of the fields; otherwise the longest is likely the grant.
        if fields == nil, let value = values.first, Self.pair(value.utf8[...]).name.utf8.allSatisfy(\.isLetterOrDigit),
            value.utf8.contains(UInt8(ascii: "="))
        {
            return value
        }
        return values.max { $0.utf8.count < $1.utf8.count } ?? ""
    }

    /// The fields of a header or a URL; `nil` for anything else.
    private static func fields(_ line: String) -> [(name: String, value: String)]? {
        let name = line.utf8.prefix(while: \.isTokenCharacter)
        let rest = line.utf8.dropFirst(name.count)
        if rest.starts(with: "://".utf8) || ["/", "?"].contains(where: { line.utf8.starts(with: $0.utf8) }) {
            let path = line.utf8.prefix { !"?#".utf8.contains($0) }
            let query = line.utf8.dropFirst(path.count + 1).prefix { $0 != UInt8(ascii: "#") }
            // Akamai's edge also writes a token into the path: /hdntl=exp=…~hmac=…/1.m3u8.
            let names = path.split(separator: UInt8(ascii: "/")).filter { $0.contains(UInt8(ascii: "=")) }
            return (query.split(separator: UInt8(ascii: "&")) + names).map(pair)
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
