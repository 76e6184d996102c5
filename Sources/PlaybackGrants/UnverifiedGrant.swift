package import Basics

/// A text that has the form of a playback grant or of a JSON Web Token. Nothing about it is verified: anybody may have
/// written it.
package struct UnverifiedGrant: Sendable {
    /// The longest text that is looked at, in bytes.
    private static let sizeLimit = 65_536

    /// The name of the grant's kind on the command line; `jwt` for a JSON Web Token, of which no kind of grant is.
    package let kind: String
    private let contents: GrantContents
    /// The check of the name under which the grant was sent; `nil` if it is the usual one.
    private let name: GrantCheck?

    /// What the text is, for people.
    package var title: String { contents.title }
    /// The fields, in the order of the grant. Their texts are as untrusted as the grant, and may hold control
    /// characters.
    package var fields: [(name: String, text: String)] { contents.fields }
    /// The start; `nil` if the grant has none.
    package var starts: Timestamp? { contents.begin?.timestamp }
    /// The expiry; `nil` if the grant has none that can be read.
    package var expires: Timestamp? { contents.end?.timestamp }

    /// Recognises a grant by its form: the grant itself, a query, a URL that ends in one, or lines of headers. The
    /// result is `nil` for any other text.
    ///
    /// - Parameter name: the name of the parameter, cookie or header that has the grant; `nil` if it may be any.
    package init?(recognizing text: String, named name: String? = nil) {
        guard text.utf8.count <= Self.sizeLimit else { return nil }
        let captured = CapturedGrant(text)
        for kind in GrantKind.all {
            let grant = captured.grant(of: kind, named: name)
            guard let contents = kind.contents(grant.value) else { continue }
            (self.kind, self.contents, self.name) = (
                kind.name, contents, kind.check(grant, of: captured, named: name)
            )
            return
        }
        guard let contents = Self.jsonWebToken(text) else { return nil }
        (kind, self.contents, self.name) = ("jwt", contents, nil)
    }

    /// The results of the checks that need no key. That of the key itself is always open.
    package func checks(_ question: GrantQuestion) -> [GrantCheck] {
        [name ?? GrantCheck(.format, true, title), GrantCheck(.key, nil, "none was given")] + contents.checks(question)
    }

    /// Reads a JSON Web Token in its compact form (RFC 7519, 3; RFC 7515, 7.1).
    private static func jsonWebToken(_ text: String) -> GrantContents? {
        let bare = text.utf8.filter { !$0.isASCIIWhiteSpace }
        let parts = bare.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let decoded = parts.prefix(4).compactMap { try? Base64.decode($0, alphabet: .urlSafe, padding: .forbidden) }
        guard parts.count == 3, decoded.count == 3, let header = try? StrictJSON.readObject(decoded[0][...]),
            case .text? = header.members["alg"], let claims = try? StrictJSON.readObject(decoded[1][...])
        else { return nil }
        func seconds(_ name: JSONName) -> Int64? {
            guard case .number(let number)? = claims.members[name] else { return nil }
            return Int64(exactly: number.rounded(.down))
        }
        let (begin, end) = (seconds("nbf"), seconds("exp"))
        let fields = [header, claims].flatMap { object in
            object.members.sorted { $0.key.text < $1.key.text }.map { name, value in
                let date = ["exp", "nbf", "iat"].contains(name) ? seconds(name)?.secondsWithDate : nil
                if case .text(let text) = value { return (name: name.text, text: text) }
                return (name: name.text, text: date ?? value.document)
            }
        }
        return GrantContents("JSON Web Token (JWT)", fields, begin: begin, end: end) { question in
            [question.begin(begin), end.map { question.end($0, isInclusive: false) }].compactMap(\.self)
        }
    }
}
