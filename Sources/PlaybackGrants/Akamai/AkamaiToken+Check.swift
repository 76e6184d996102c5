internal import Basics
internal import StreamPaths
internal import TokenCrypto

extension AkamaiToken {
    /// Checks a token, with or without its name in front, as the edge would. What Akamai does not document is reported
    /// as not checked.
    ///
    /// - Throws: ``GrantError`` if the question cannot be asked; never for a fault of the token.
    public func check(_ token: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let token = token.withoutName(name)
        let sent = Result { () throws(GrantError) in try AkamaiFields(token) }
        if case .success(let fields) = sent {
            let checks = try checks(of: fields, question)
            guard checks.contains(where: { $0.subject == .key && $0.isPassed == false }) else { return checks }
            guard try isOurs(AkamaiFields(escapedAgain: token), question) else { return checks }
        }
        if let fields = AkamaiFields(escapedAgain: token) {
            return [Self.escapedAgain] + (try checks(of: fields, question).dropFirst())
        }
        // Unreached: A token whose fields can be read is answered before; the line only throws the error again.
        do throws(GrantError) { return try checks(of: sent.get(), question) } catch {
            return [GrantCheck(.format, false, error.reason)]
        }
    }

    /// Akamai answers such a token with 403 (seen by the authors of lostisland/faraday, issue 1598).
    static let escapedAgain = GrantCheck(
        .format, false,
        "was escaped again after it was made; Akamai reads a token as it was made: exp=… and not exp%3D…")

    private func isOurs(_ fields: AkamaiFields?, _ question: GrantQuestion) throws(GrantError) -> Bool {
        guard let fields else { return false }
        return try checks(of: fields, question).contains { $0.subject == .key && $0.isPassed == true }
    }

    private func checks(of fields: AkamaiFields, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let isACL = fields["acl"] != nil
        return [GrantCheck(.format, true, isACL ? "for paths" : "for one URL, which is not in it")]
            + (isACL ? [try check(fields)] : try checkURL(fields, question)) + Self.checks(of: fields, question)
    }

    /// The checks of a token's key and URL, which is not part of the token.
    private func checkURL(_ fields: AkamaiFields, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        guard let url = question.clearURL else { return [question.unknownKey] }
        guard escapesEarly else {
            // Unreached: Refuses a question whose URL is not percent-encoded; the property's are.
            if let character = url.unsendable() {
                throw GrantError(
                    "url", "is '\(printable(url))', with \(character.shown); expected a URL, percent-encoded")
            }
            return [try check(fields, "~url=" + url)]
        }
        // Unreached: What follows the guard of a configured escape-early; the property's grants have none.
        let checks = try Self.escapers.map { (escaper) throws(GrantError) in
            try check(fields, "~url=" + escaper.escaped(url))
        }
        guard let position = checks.firstIndex(where: { $0.isPassed == true }) else { return [checks[0]] }
        if checks.allSatisfy({ $0.isPassed == true }) { return [checks[position]] }
        let scope = GrantCheck(
            .scope, decided: nil,
            "for \(printable(url)), escaped as Akamai's library for \(Self.escapers[position].library) does; others escape it in "
                + "another way, and which way the edge does is not known")
        return [checks[position], scope]
    }

    /// The check of a token's key.
    ///
    /// - Parameter url: The field of the URL, for a token that is for one.
    private func check(_ fields: AkamaiFields, _ url: String? = nil) throws(GrantError) -> GrantCheck {
        var message = Array((fields.signed + (url ?? "")).utf8)
        // Unreached: A configured salt; the property's grants have none.
        if let salt { message += Array("~salt=".utf8) + salt.bytes }
        let code = try key.code(for: message).hexadecimal
        let isSame = Array(code.utf8).isSame(inConstantTime: Array(fields.code.utf8))
        let count = fields.code.utf8.count
        let other = [32: Digest.md5, 40: .sha1, 64: .sha256][count]
        let difference =
            if other == digest {
                // Unreached: What to compare where an HMAC differs, for the message; the tests of checks have it.
                " differs from the token's; compare the key\(salt == nil ? "" : " and the salt") with the property's"
            } else {
                " has \(code.utf8.count) digits, and the token's \(count)"
                    // Unreached: The digest that an HMAC has the length of, for the message; the tests of checks have
                    // it.
                    + (other.map { ", as \($0.rawValue) has" } ?? "")
            }
        return GrantCheck(
            .key, isSame,
            "HMAC \(digest.rawValue) of it\(url.map { " and \(printable($0))" } ?? "")" + (isSame ? "" : difference))
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
        checks.append(question.end(fields.end, isInclusive: true, timeLimit))
        checks += [question.ip(onlyFrom: fields["ip"].map(address))].compactMap(\.self)
        if let acl = fields["acl"] { checks.append(scope(acl, question)) }
        return checks
    }

    /// The address in a token, decoded if one of Akamai's libraries escapes it so.
    private static func address(_ sent: String) -> String {
        let made = sent.unescaped() ?? sent
        return escapers.contains { $0.escaped(made).hasSameBytes(as: sent) } ? made : sent
    }

    /// Compares an ACL that is escaped whole after its escapes are decoded: the edge escapes the slashes of its own
    /// cookie `hdntl`, and Akamai's library for Java even `!`, `*` and `?`. Nobody knows whether the edge decodes other
    /// escapes, a path, and `+` in an ACL with escapes; where that makes a difference, the scope is not checked.
    private static func scope(_ acl: String, _ question: GrantQuestion) -> GrantCheck {
        let isEscaped = acl.utf8.contains(UInt8(ascii: "%"))
        let isWhole = isEscaped && !acl.utf8.contains { "/!".utf8.contains($0) }
        let decoded = isEscaped ? [false, true].map { acl.unescaped(plusIsSpace: $0) ?? acl } : []
        // Unreached: An access list with escapes in a part of it; the tests of checks have it.
        let acls = isWhole ? decoded : decoded + [acl]
        return question.scope(
            "for \(printable(acl.unescaped() ?? acl))", unknown: "whose escapes the edge may decode or not"
        ) {
            let path = RequestedURL($0).sentPath
            let results = acls.flatMap { acl in
                let patterns = acl.utf8.split(separator: UInt8(ascii: "!")).map { String(Substring($0)) }
                // Unreached: Asks about a path with a broken escape; the property's questions have none.
                return [path, path.unescaped() ?? path].map { path in patterns.contains { Wildcards.match(path, $0) } }
            }
            return results.allSatisfy { $0 == results[0] } ? results[0] : nil
        }
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

    /// - Throws: ``GrantError`` for the field `format`, with what is wrong.
    init(_ token: String) throws(GrantError) {
        let parts = token.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        let mark = "hmac="
        guard token.utf8.count <= 8192 else { throw .format("has \(token.utf8.count) bytes; expected at most 8192") }
        guard let last = parts.last, last.starts(with: mark.utf8) else {
            throw .format("has no hmac=… at its end; expected fields with ~ between them, and hmac as the last")
        }
        for part in parts.dropLast() {
            let name = String(Substring(part.prefix { $0 != UInt8(ascii: "=") }))
            guard name.utf8.count <= 4, Self.names.contains(name), part.count > name.utf8.count else {
                throw .format(
                    "has the field '\(printable(name, limit: 40))'; expected \(Self.names.sorted().joined(separator: ", "))"
                )
            }
            guard values.updateValue(String(Substring(part.dropFirst(name.utf8.count + 1))), forKey: name) == nil
            else { throw .format("has \(name) twice") }
        }
        guard let text = values["exp"] else { throw .format("has no exp; expected exp=… before hmac=…") }
        guard let end = text.plainNumber else {
            throw .format(
                "has exp=\(printable(text, limit: 40)); expected seconds since 1970, without a zero or plus in front")
        }
        self.end = end
        code = String(Substring(last.dropFirst(mark.utf8.count)))
        // Unreached: A character in an HMAC that is not a digit, for the message; the tests of checks have it.
        if let other = code.unicodeScalars.first(where: { !$0.properties.isASCIIHexDigit }) {
            throw .format("has \(other.shown) in its hmac; expected hexadecimal digits up to the end of the token")
        }
        // Unreached: What is cut off a text at an ASCII character is a text; the default only satisfies the type.
        signed = String(token.utf8.dropLast(last.count + 1)) ?? ""
    }

    /// The fields of a token that a client escaped again; `nil` if none are found.
    init?(escapedAgain token: String) {
        guard token.utf8.count <= 3 * 8192, token.utf8.contains(UInt8(ascii: "%")), let made = token.unescaped() else {
            return nil
        }
        // The name in front may have been escaped with it.
        let unnamed = String(Substring(made.utf8.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
        guard let fields = (try? AkamaiFields(made)) ?? (try? AkamaiFields(unnamed)) else { return nil }
        self = fields
    }
}

extension GrantError {
    fileprivate static func format(_ reason: String) -> Self { Self("format", reason) }
}

extension AkamaiToken {
    /// Makes tokens for everything below a route's prefix.
    package func maker(for route: GrantTarget, _ values: GrantValues) throws(GrantError) -> RouteGrantMaker {
        RouteGrantMaker(opensPrefix: true, subject: { (_) throws(GrantError) in route.prefix }) {
            (_, period, _, _) throws(GrantError) in try grant(.acl([route.prefix + "*"]), period)
        }
    }
}
