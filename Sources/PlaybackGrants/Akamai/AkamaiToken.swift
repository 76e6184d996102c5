package import Basics
internal import Settings
internal import TokenCrypto

/// Akamai's Edge Authorization token, called "Auth Token 2.0" in a property's settings (Akamai's own libraries,
/// EdgeAuth-Token-*).
///
/// The form is `ip=…~st=…~exp=…~acl=…~id=…~data=…~hmac=…`. The HMAC also covers `url=…` and `salt=…`, which are
/// appended to the other fields but are not part of the token.
public struct AkamaiToken: Sendable {
    /// The paths or the URL that a token opens.
    public enum Scope: Sendable, Equatable {
        /// Paths, in which `*` matches anything and `?` matches one character. They are part of the token.
        case acl([String])
        /// One URL, which is not part of the token. The edge checks the URL of each request instead.
        case url(String)
    }

    /// The digest algorithm of the HMAC.
    public enum Digest: String, Sendable, CaseIterable {
        /// HMAC with SHA-256, the default.
        case sha256
        /// HMAC with SHA-1, for properties created before Akamai supported SHA-256.
        case sha1
        /// HMAC with MD5, for properties created before Akamai supported SHA-256.
        case md5
    }

    /// Akamai's first libraries (akamai_token_v2, EdgeAuth-Token-PHP) take times before 4294967295. Those of today do
    /// not look.
    static let timeLimit = TimeLimit(last: 4_294_967_294, owner: "Akamai")

    let key: HMACKey
    /// The name of the parameter, cookie or header: `hdnts` for a URL that is exchanged at the edge, `hdnea` for a
    /// cookie, or the name in the property's settings.
    public var name = "hdnts"
    /// The digest algorithm of the HMAC.
    public let digest: Digest
    /// The salt, which is part of the HMAC's input but not of the token.
    public var salt: GrantSecret?
    /// The only client address that may use the token; `nil` if any may.
    public var ip: String?
    /// A session ID for the edge's logs.
    public var id: String?
    /// Arbitrary data that the edge passes on.
    public var data: String?
    /// Whether `ip`, `id`, `data` and `url` are percent-encoded with lower-case escapes before they are signed, as the
    /// property's setting "Escape token input" requires.
    public var escapesEarly = false

    /// Creates a maker and checker of tokens for one property.
    ///
    /// - Parameters:
    ///   - key: The property's key or its transition key.
    ///   - digest: The digest algorithm in the property's settings.
    /// - Throws: ``GrantError`` if libcrypto rejects the key.
    public init(key: GrantSecret, digest: Digest = .sha256) throws(GrantError) {
        (self.key, self.digest) = (try key.mac(digest.algorithm), digest)
    }

    /// Makes the token.
    ///
    /// - Throws: ``GrantError`` for a field that cannot be part of a token.
    public func grant(_ scope: Scope, _ period: GrantPeriod) throws(GrantError) -> Grant {
        try period.demand(Self.timeLimit)
        var sent: [String] = []
        if let ip { sent.append("ip=" + (try field("ip", ip))) }
        if let begin = period.begin { sent.append("st=\(begin)") }
        sent.append("exp=\(period.end)")
        if case .acl(let paths) = scope { sent.append("acl=" + (try Self.joined(paths))) }
        if let id { sent.append("id=" + (try field("id", id))) }
        if let data { sent.append("data=" + (try field("data", data))) }

        var signed = sent
        if case .url(let url) = scope {
            guard !url.isEmpty else { throw GrantError("url", "is empty; expected a path or a URL") }
            guard !url.utf8.contains(UInt8(ascii: "#")) else {
                throw GrantError(
                    "url", "is '\(printable(url))', with '#'; expected it without the part that no client sends")
            }
            signed.append("url=" + (try field("url", url)))
        }
        var message = Array(signed.joined(separator: "~").utf8)
        if let salt { message += Array("~salt=".utf8) + salt.bytes }
        let code = try key.code(for: message)
        return Grant(name, (sent + ["hmac=" + code.hexadecimal]).joined(separator: "~"), expires: period.expires)
    }

    private static func joined(_ paths: [String]) throws(GrantError) -> String {
        guard !paths.isEmpty else { throw GrantError("acl", "names no path; expected at least one") }
        for path in paths {
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw GrantError("acl", "is '\(printable(path))'; expected a path from / on")
            }
            if let character = path.unsendable("!~") {
                throw GrantError(
                    "acl",
                    "is '\(printable(path))', with \(character.shown); expected visible ASCII without ! ~ ; \\ or quotes"
                )
            }
        }
        return paths.joined(separator: "!")
    }

    private func field(_ name: String, _ text: String) throws(GrantError) -> String {
        let text = escapesEarly ? Self.escapers[0].escaped(text) : text
        if let character = text.unsendable("~") {
            throw GrantError(
                name,
                "is '\(printable(text))', with \(character.shown); expected visible ASCII without ~ ; \\ or quotes (or "
                    + "escape-early)")
        }
        return text
    }

    /// How one of Akamai's libraries escapes a text early.
    struct Escaper: Sendable {
        /// The library's language.
        let library: String
        /// The characters that stand for themselves, apart from letters and digits.
        fileprivate let plain: String
        fileprivate let space: String

        func escaped(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain = byte.isLetterOrDigit || plain.utf8.contains(byte)
                let isSpace = byte == UInt8(ascii: " ")
                return isPlain ? String(Character(Unicode.Scalar(byte))) : isSpace ? space : "%" + [byte].hexadecimal
            }.joined()
        }
    }

    /// How Akamai's own libraries escape early, each in another way (EdgeAuth-Token-Node, -Python, -Ruby and -Java).
    /// The first makes the tokens here. Which of them the edge follows is not known.
    static let escapers = [
        Escaper(library: "Node", plain: "-_.!()", space: "%20"),
        Escaper(library: "Python and Ruby", plain: "-_.~", space: "+"),
        Escaper(library: "Java", plain: "-_.*", space: "+"),
    ]
}

extension AkamaiToken.Digest {
    var algorithm: DigestAlgorithm {
        switch self {
        case .sha256: .sha256
        case .sha1: .sha1
        case .md5: .md5
        }
    }
}

extension AkamaiToken: GrantScheme {
    package static let kind = GrantKind(
        "akamai", "Edge Authorization token; --acl or --url", settings, secretFile: "salt-file", usualName: "hdnts",
        contents: contents
    ) { (values) throws(GrantError) in try AkamaiToken(values) }

    private static let settings: [GrantSetting] = [
        .text("salt-file", "FILE", .key, "file with the salt", example: "/etc/media-token/salt-file"),
        .text("url", "URL", .scope, "one URL").only(in: .option),
        .list("acl", "PATH", .scope, "path, with * for anything").only(in: .option),
        .ip,
        .starts,
        .text("name", "NAME", .form, "of the parameter, cookie or header (default hdnts)", example: "hdnts") { name in
            let isName = !name.isEmpty && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
            return isName ? nil : "is '\(printable(name))'; expected letters, digits and _"
        },
        .word("digest", .form, "sha256 (default), sha1 or md5", Digest.allCases.map(\.rawValue)),
        .flag("escape-early", .form, "percent-encode what is signed"),
        .text("id", "TEXT", .form, "session ID").only(in: .option),
        .text("data", "TEXT", .form, "payload").only(in: .option),
    ]

    init(_ values: GrantValues) throws(GrantError) {
        let digest = values["digest"].flatMap(Digest.init) ?? .sha256
        try self.init(
            key: GrantSecret(hexadecimal: String(decoding: values.key, as: UTF8.self)), digest: digest)
        if let name = values["name"] { self.name = name }
        if let salt = values.secret("salt-file") {
            guard !salt.isEmpty else { throw GrantError("salt-file", "is empty; expected a salt") }
            self.salt = try GrantSecret(salt)
        }
        (ip, id, data) = (values["ip"], values["id"], values["data"])
        escapesEarly = values.has("escape-early")
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        let paths = values.all("acl")
        guard paths.isEmpty != (values["url"] == nil) else {
            throw GrantError("acl", "expected one of --acl and --url")
        }
        return try grant(values["url"].map { .url($0) } ?? .acl(paths), period)
    }
}

extension AkamaiToken {
    private static func contents(of grant: String) -> GrantContents? {
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
