internal import HTTPServer
internal import MediaToken

/// A grant as it was found: the query itself, a URL that ends in one, or lines of headers.
enum CapturedGrant {
    /// Its fields as a query.
    static func query(_ text: String) -> String {
        let lines = text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            fields(String(Substring(line.drop(while: \.isASCIIWhiteSpace))))
        }
        let joined = lines.filter { !$0.isEmpty }.joined(separator: "&")
        return String(decoding: joined.utf8.filter { !$0.isASCIIWhiteSpace }, as: UTF8.self)
    }

    /// The first field of that name; all of it where there is none.
    static func field(_ name: String, of query: String) -> String {
        let name = name + "="
        guard
            let field = query.utf8.split(separator: UInt8(ascii: "&")).first(where: { $0.starts(with: name.utf8) })
        else { return query }
        return String(Substring(field))
    }

    private static func fields(_ line: String) -> String {
        for (header, isOne) in [("set-cookie:", true), ("cookie:", false)] {
            guard line.utf8.prefix(header.utf8.count).map(\.asciiLowercased).elementsEqual(header.utf8) else {
                continue
            }
            let pairs = line.utf8.dropFirst(header.utf8.count).split(separator: UInt8(ascii: ";"))
            let own = pairs.prefix(isOne ? 1 : pairs.count).map {
                String(Substring($0.drop(while: \.isASCIIWhiteSpace)))
            }
            return own.joined(separator: "&")
        }
        let isURL = ["?", "/", "https://", "http://"].contains { line.utf8.starts(with: $0.utf8) }
        if isURL, let mark = line.utf8.firstIndex(of: UInt8(ascii: "?")) {
            return String(Substring(line.utf8[mark...].dropFirst()))
        }
        // A header of its own: `CTA-Common-Access-Token: …`.
        let name = line.utf8.prefix { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let rest = line.utf8.dropFirst(name.count)
        guard !name.isEmpty, rest.first == UInt8(ascii: ":") else { return line }
        return String(Substring(name)) + "=" + String(Substring(rest.dropFirst()))
    }
}
