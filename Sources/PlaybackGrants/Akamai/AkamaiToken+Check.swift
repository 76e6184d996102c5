internal import TextEncodings
internal import TokenCrypto

extension AkamaiToken {
    /// Checks a token, with or without its name in front, as the edge would. Paths are compared as written, without
    /// decoding.
    ///
    /// - Throws: ``GrantError`` if the question cannot be asked; never for a fault of the token.
    public func check(_ token: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        guard let fields = AkamaiFields(token.withoutName(name)) else {
            return [
                GrantCheck(
                    .format, false,
                    "expected exp=…~…~hmac=…, each field of ip, st, exp, acl, id, data once, behind \(name)= or nothing"
                )
            ]
        }
        let isACL = fields["acl"] != nil
        var message = Array(fields.signed.utf8)
        if !isACL, let url = question.url { message += Array("~url=".utf8) + (try field("url", url)).utf8 }
        if let salt { message += Array("~salt=".utf8) + salt.bytes }
        let code = try key.code(for: message).hexadecimal
        let isKnown = isACL || question.url != nil
        let isSame = Array(code.utf8).isSame(inConstantTime: Array(fields.code.utf8))
        return [
            GrantCheck(.format, true, isACL ? "for paths" : "for one URL, which is not in it"),
            GrantCheck(
                .key, isKnown ? isSame : nil,
                !isKnown
                    ? "unknown: give the URL that it is for"
                    : "HMAC \(digest.rawValue) of \(isACL ? "it" : "it and the URL")"
                        + (isSame ? "" : " differs: another key, salt, digest or \(isACL ? "token" : "URL")")),
        ] + Self.checks(of: fields, question)
    }

    /// The checks that need no key.
    static func checks(of fields: AkamaiFields, _ question: GrantQuestion) -> [GrantCheck] {
        var checks: [GrantCheck] = []
        if let begin = fields["st"] {
            // A start that is not a number fails the check.
            checks += [
                begin.plainNumber.flatMap(question.begin)
                    ?? GrantCheck(.begin, false, "holds from \(printable(begin)) on; expected seconds since 1970")
            ]
        }
        checks.append(question.end(fields.end, isInclusive: true))
        checks += [question.ip(fields["ip"])].compactMap(\.self)
        if let acl = fields["acl"] { checks.append(scope(acl, question.url)) }
        return checks
    }

    private static func scope(_ acl: String, _ url: String?) -> GrantCheck {
        let path = url.map { RequestedURL($0).path }
        let patterns = acl.utf8.split(separator: UInt8(ascii: "!")).map { String(Substring($0)) }
        let isOpen = path.map { path in patterns.contains { Wildcards.match(path, $0) } }
        return GrantCheck(.scope, isOpen, "for \(printable(acl))" + (url.map { "; asked for \(printable($0))" } ?? ""))
    }
}

/// A token's fields. Each occurs at most once, and the HMAC is the last.
struct AkamaiFields {
    private static let names: Set<String> = ["ip", "st", "exp", "acl", "id", "data"]

    private var values: [String: String] = [:]
    let signed: String
    let code: String
    let end: Int64

    subscript(name: String) -> String? { values[name] }

    init?(_ token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        let mark = "hmac="
        guard token.utf8.count <= 8192, let last = parts.last, last.starts(with: mark.utf8), parts.count > 1 else {
            return nil
        }
        for part in parts.dropLast() {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(Substring(part[..<equals]))
            guard name.utf8.count <= 4, Self.names.contains(name),
                values.updateValue(String(Substring(part[equals...].dropFirst())), forKey: name) == nil
            else { return nil }
        }
        guard let end = values["exp"].flatMap(\.plainNumber) else { return nil }
        self.end = end
        code = String(Substring(last.dropFirst(mark.utf8.count)))
        signed = String(token.utf8.dropLast(last.count + 1)) ?? ""
    }
}
