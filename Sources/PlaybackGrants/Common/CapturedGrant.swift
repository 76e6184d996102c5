internal import Basics

/// A grant as it was captured: the grant itself, a query, a URL with the grant, or lines of headers.
package struct CapturedGrant {
    /// A field of a query, a cookie or another header. The name is empty for a grant without one.
    package struct Field {
        enum Carrier {
            case query, path, cookie, header
        }

        package let name, value: String
        var carrier = Carrier.query

        /// Whether a CDN that reads the field `expected` reads this one.
        func isNamed(_ expected: String) -> Bool {
            carrier == .header ? name.isSame(ignoringCaseOf: expected) : name.hasSameBytes(as: expected)
        }
    }

    /// The fields of headers and URLs; `nil` if the text is neither.
    private let fields: [Field]?
    /// The text without white space, which a captured text may be folded with.
    private let bare: String
    private let text: String

    package init(_ text: String) {
        self.text = text
        let lines = text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            String(Substring(line.drop(while: \.isASCIIWhiteSpace)))
        }
        let found = lines.compactMap(Self.fields)
        fields = found.isEmpty ? nil : Array(found.joined())
        bare = String(decoding: text.utf8.filter { !$0.isASCIIWhiteSpace }, as: UTF8.self)
    }

    /// The grant of a kind: its only field, or all fields as a query. Other fields in the text are ignored.
    ///
    /// - Parameter name: The name of the only field; `nil` for the first field whose value has the form of the kind.
    package func grant(of kind: GrantKind, named name: String? = nil) -> Field {
        guard let usualName = kind.usualName else {
            let texts = fields.map { fields in [.query, .cookie].compactMap { joined(fields, $0) } } ?? [bare]
            return Field(name: "", value: texts.first { kind.contents($0) != nil } ?? texts.first ?? "")
        }
        let parts = bare.utf8.split(separator: UInt8(ascii: "&"))
        // A grant of a captured text may have a & in it, and no name.
        let whole = fields == nil ? [Field(name: "", value: bare), Self.pair(bare.utf8[...])] : []
        let all = fields ?? parts.map { Self.pairOrValue($0, named: name ?? usualName) }
        let named = (whole + all).filter { $0.isNamed(name ?? usualName) }
        let candidates = name == nil || named.isEmpty ? named + whole + all : named
        if let found = candidates.first(where: { kind.contents($0.value) != nil }) { return found }
        // No value has the form: the longest is likely the grant.
        let likely = all.filter { $0.isNamed(name ?? usualName) }
        return (likely.isEmpty ? all : likely).max { $0.value.utf8.count < $1.value.utf8.count }
            ?? Field(name: "", value: "")
    }

    /// The fields of a URL's query as a query, or the cookies as cookies; `nil` if there are none. No CDN reads several
    /// fields from a path or from other headers.
    private func joined(_ fields: [Field], _ carrier: Field.Carrier) -> String? {
        let pairs = fields.filter { $0.carrier == carrier }.map { $0.name + "=" + $0.value }
        guard !pairs.isEmpty else { return nil }
        // A space, which no query contains, would make cookies of it.
        return carrier == .query
            ? pairs.joined(separator: "&").replacing(" ", with: "%20") : pairs.map { $0 + "; " }.joined()
    }

    /// Whether a program may find several fields of this name.
    fileprivate func hasSeveral(_ name: String) -> Bool {
        QueryFields.readings(of: text).count(where: name.isSame) > 1
    }

    /// The fields of a header or a URL; `nil` for anything else.
    private static func fields(_ line: String) -> [Field]? {
        let name = line.utf8.prefix(while: \.isTokenCharacter)
        let rest = line.utf8.dropFirst(name.count)
        if rest.starts(with: "://".utf8) || ["/", "?"].contains(where: { line.utf8.starts(with: $0.utf8) }) {
            let path = line.utf8.prefix { !"?#".utf8.contains($0) }
            let query = line.utf8.dropFirst(path.count + 1).prefix { $0 != UInt8(ascii: "#") }
            // Akamai's edge also writes a token into the path: /hdntl=exp=…~hmac=…/1.m3u8.
            let names = path.split(separator: UInt8(ascii: "/")).filter { $0.contains(UInt8(ascii: "=")) }.map(pair)
            return query.split(separator: UInt8(ascii: "&")).map(pair)
                + names.map { Field(name: $0.name, value: $0.value, carrier: .path) }
        }
        guard !name.isEmpty, rest.first == UInt8(ascii: ":") else { return nil }
        let (header, value) = (String(Substring(name)), trimmed(rest.dropFirst()))
        let cookies = value.utf8.split(separator: UInt8(ascii: ";")).map(pair).map {
            Field(name: $0.name, value: $0.value, carrier: .cookie)
        }
        if header.isSame(ignoringCaseOf: "Cookie") { return cookies }
        // The rest of the header describes the cookie.
        if header.isSame(ignoringCaseOf: "Set-Cookie") { return Array(cookies.prefix(1)) }
        return [Field(name: header, value: value, carrier: .header)]
    }

    private static func pair(_ text: Substring.UTF8View) -> Field {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        return Field(name: trimmed(name), value: trimmed(text.dropFirst(name.count + 1)))
    }

    /// The field of the name, or `NAME=exp=…`, whose name is none of a token's own fields, or a token without a name.
    private static func pairOrValue(_ text: Substring.UTF8View, named name: String) -> Field {
        let field = pair(text)
        if field.isNamed(name) { return field }
        let inner = field.value.utf8.prefix { $0 != UInt8(ascii: "=") }
        let isPair = inner.count < field.value.utf8.count && inner.allSatisfy(\.isLetterOrDigit)
        return isPair ? field : Field(name: "", value: String(Substring(text)))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String { String(Substring(text.trimmingBlanks())) }
}

extension GrantKind {
    /// The check of the name under which a grant was sent; `nil` if the CDN reads this field alone, or there is no
    /// name.
    ///
    /// - Parameter name: The name that the CDN reads; `nil` if it is not known.
    package func check(
        _ sent: CapturedGrant.Field, of captured: CapturedGrant, named name: String?
    ) -> GrantCheck? {
        guard let usualName else { return nil }
        let sentName = sent.name.isEmpty ? name ?? usualName : sent.name
        guard !captured.hasSeveral(sentName) else {
            let shown = printable(sentName, limit: 40)
            return GrantCheck(.format, decided: nil, "has \(shown) twice, and which one the CDN reads is not known")
        }
        if !sent.name.isEmpty, sent.carrier == .query, sent.value.utf8.contains(where: "&#".utf8.contains) {
            return GrantCheck(
                .format, decided: nil, "has & or #, where a query ends its value; ask with Cookie: or a header in front"
            )
        }
        guard !sent.name.isEmpty, !sent.isNamed(name ?? usualName) else { return nil }
        let detail = "was sent as \(printable(sent.name, limit: 40)); expected \(name ?? usualName)"
        return GrantCheck(
            .format, name == nil ? nil : false, detail + (name == nil ? ", unless the CDN reads another" : ""))
    }
}
