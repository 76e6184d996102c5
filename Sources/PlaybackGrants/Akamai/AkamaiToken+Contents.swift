internal import TextEncodings

extension AkamaiToken {
    package static let usualNames = ["hdnts", "hdnea", "__token__"]

    package static func contents(of grant: String) -> GrantContents? {
        guard let fields = AkamaiFields(grant), [32, 40, 64].contains(fields.code.utf8.count),
            fields.code.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        let shown = fields.signed.utf8.split(separator: UInt8(ascii: "~")).map { field in
            let name = String(Substring(field.prefix { $0 != UInt8(ascii: "=") }))
            let text = String(Substring(field.dropFirst(name.utf8.count + 1)))
            return (name: name, text: ["st", "exp"].contains(name) ? text.plainNumber?.secondsWithDate ?? text : text)
        }
        return GrantContents(
            "Akamai Edge Authorization token", shown + [(name: "hmac", text: fields.code)],
            begin: fields["st"].flatMap(\.plainNumber), end: fields.end
        ) { question in checks(of: fields, question) }
    }
}
