internal import Basics

extension AkamaiToken {
    package static let usualName: String? = "hdnts"

    package static func contents(of grant: String) -> GrantContents? {
        let sent = try? AkamaiFields(grant)
        guard let fields = sent ?? AkamaiFields(escapedAgain: grant), [32, 40, 64].contains(fields.code.utf8.count)
        else { return nil }
        let shown = fields.signed.utf8.split(separator: UInt8(ascii: "~")).map { field in
            let name = String(Substring(field.prefix { $0 != UInt8(ascii: "=") }))
            let text = String(Substring(field.dropFirst(name.utf8.count + 1)))
            let date = ["st", "exp"].contains(name) ? text.plainNumber?.secondsWithDate : nil
            return (name: name, text: date ?? (name == "acl" ? text.unescaped() : nil) ?? text)
        }
        return GrantContents(
            "Akamai Edge Authorization token", shown + [(name: "hmac", text: fields.code)],
            begin: fields["st"].flatMap(\.plainNumber), end: fields.end
        ) { [isSent = sent != nil] question in (isSent ? [] : [escapedAgain]) + checks(of: fields, question) }
    }
}
