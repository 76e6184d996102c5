package import Basics
internal import Settings
internal import TokenCrypto

/// A grant for nginx's `secure_link` (nginx.org, ngx_http_secure_link_module): an expiry, and the MD5 of an expression
/// that contains a secret.
///
/// nginx needs `secure_link $arg_md5,$arg_expires;` and a `secure_link_md5` with the same expression.
public struct SecureLink: Sendable {
    /// A piece of the expression.
    private enum Piece: Sendable {
        case text(String)
        case expires, uri, address, secret

        var isTime: Bool { if case .expires = self { true } else { false } }

        var isURI: Bool { if case .uri = self { true } else { false } }

        var beginsWithDigit: Bool {
            switch self {
            case .expires: true
            case .text(let text): text.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
            case .uri, .address, .secret: false
            }
        }
    }

    private let secret: GrantSecret
    private let pieces: [Piece]
    /// The names of the parameters or cookies for the digest and the expiry.
    public var names = (digest: "md5", expires: "expires")
    /// The only client address that may use the link. It is required if the expression contains `$remote_addr`.
    public var ip: String?

    private static let variables: [(name: String, piece: Piece)] = [
        ("secure_link_expires", .expires), ("uri", .uri), ("remote_addr", .address), ("secret", .secret),
    ]

    /// The default expression: the expiry, the path and the secret.
    public static let usualExpression = "$secure_link_expires$uri $secret"

    /// Creates a maker and checker of links for one secret and one expression.
    ///
    /// - Parameters:
    ///   - secret: The secret that nginx's configuration has in the expression.
    ///   - expression: The expression as in `secure_link_md5`, with `$secure_link_expires`, `$uri`, `$remote_addr`, and
    ///     `$secret` in place of the secret. Each variable may be written with braces.
    /// - Throws: ``GrantError`` for the field `expression` if the expression has another variable, lacks the expiry
    ///   or the secret, or has `$uri` before the expiry without a non-digit directly after `$uri`.
    public init(secret: GrantSecret, expression: String = usualExpression) throws(GrantError) {
        self.secret = secret
        pieces = try Self.pieces(of: expression)
        for (name, isThere) in [
            ("$secure_link_expires", pieces.contains(where: \.isTime)),
            ("$secret", pieces.contains { if case .secret = $0 { true } else { false } }),
        ] where !isThere {
            throw GrantError("expression", "is '\(printable(expression))'; expected \(name) in it")
        }
        // Otherwise a client could move digits between the end of the URI and the start of the expiry, both of which it
        // sends, without changing the digest.
        let behind = pieces.drop { !$0.isURI }.dropFirst()
        if behind.contains(where: \.isTime), behind.first?.beginsWithDigit ?? false {
            throw GrantError(
                "expression", "is '\(printable(expression))'; expected something else than digits behind $uri")
        }
    }

    /// Whether the expression contains the client's address.
    package var namesAddress: Bool { pieces.contains { if case .address = $0 { true } else { false } } }

    /// Whether the expression contains the URI. Without it, a link opens everything that the expression guards.
    package var namesURI: Bool { pieces.contains(where: \.isURI) }

    private static func pieces(of expression: String) throws(GrantError) -> [Piece] {
        var pieces: [Piece] = []
        var rest = expression.utf8[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "$")) {
            if mark > rest.startIndex { pieces.append(.text(String(Substring(rest[..<mark])))) }
            rest = rest[mark...].dropFirst()
            let hasBraces = rest.first == UInt8(ascii: "{")
            if hasBraces { rest = rest.dropFirst() }
            let name = rest.prefix { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
            rest = rest.dropFirst(name.count)
            let isClosed = !hasBraces || rest.popFirst() == UInt8(ascii: "}")
            guard isClosed, let variable = variables.first(where: { $0.name.utf8.elementsEqual(name) }) else {
                throw GrantError(
                    "expression",
                    "has $\(printable(String(Substring(name)))); expected "
                        + variables.map { "$" + $0.name }.joined(separator: ", "))
            }
            pieces.append(variable.piece)
        }
        if !rest.isEmpty { pieces.append(.text(String(Substring(rest)))) }
        return pieces
    }

    /// Makes the link's parameters for one path.
    ///
    /// - Parameters:
    ///   - uri: The decoded path without its query, which nginx calls `$uri`.
    ///   - period: The validity period of the link. nginx checks only the expiry.
    public func grant(uri: String, _ period: GrantPeriod) throws(GrantError) -> Grant {
        let fields = [
            (name: names.digest, value: try digest(uri: uri, end: period.end)),
            (name: names.expires, value: String(period.end)),
        ]
        return Grant(
            fields.map { Grant.Field(parameter: $0.name, cookie: $0.name, value: $0.value) }, expires: period.expires)
    }

    /// The digest for one path and expiry, as nginx expects it in the link.
    func digest(uri: String, end: Int64) throws(GrantError) -> String {
        guard uri.utf8.first == UInt8(ascii: "/") else {
            throw GrantError("path", "is '\(printable(uri))'; expected a path from / on")
        }
        var message: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): message += text.utf8
            case .expires: message += String(end).utf8
            case .uri: message += uri.utf8
            case .secret: message += secret.bytes
            case .address:
                guard let ip else { throw GrantError("ip", "is missing; the expression has $remote_addr") }
                message += ip.utf8
            }
        }
        do {
            return Base64.encode(try DigestAlgorithm.md5.digest(message), alphabet: .urlSafe, isPadded: false)
        } catch {
            throw GrantError("expression", "cannot be digested (\(error))")
        }
    }
}

extension SecureLink: GrantScheme {
    package static let kind = GrantKind("secure-link", "nginx's secure_link; --path", settings, contents: contents) {
        (values) throws(GrantError) in try SecureLink(values)
    }

    private static let settings: [GrantSetting] = [
        .text("path", "PATH", .scope, "path as in the URL, percent-encoded").only(in: .option),
        .ip,
        .text(
            "expression", "TEXT", .form,
            "as in secure_link_md5, with $secret in it (default \(usualExpression))", example: usualExpression),
    ]

    init(_ values: GrantValues) throws(GrantError) {
        try self.init(secret: GrantSecret(values.key), expression: values["expression"] ?? Self.usualExpression)
        ip = values["ip"]
    }

    package func grant(
        _ values: GrantValues, _ period: GrantPeriod, at now: Timestamp
    ) throws(GrantError) -> Grant {
        try demandURI()
        guard !values.has("ip") || namesAddress else {
            throw GrantError("ip", "is given, and the expression has no $remote_addr; expected both or neither")
        }
        return try grant(uri: Self.uri(values.required("path", "--path for secure-link")), period)
    }

    /// Refuses an expression without `$uri`: its link would open everything that the expression guards.
    func demandURI() throws(GrantError) {
        // Unreached: Refuses a configured expression when the gate starts; the properties' has $uri.
        guard namesURI else {
            throw GrantError("expression", "has no $uri; expected it, so that a link is for one")
        }
    }

    /// nginx's `$uri` for a path as it stands in a URL, as the gate and checks read it.
    private static func uri(_ path: String) throws(GrantError) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw GrantError("path", "is '\(printable(path))'; expected a path from / on")
        }
        if let mark = path.unicodeScalars.first(where: { $0 == "?" || $0 == "#" }) {
            throw GrantError(
                "path",
                "is '\(printable(path))', with \(mark); expected a path alone, in which a file's own \(mark) is "
                    + (mark == "?" ? "%3F" : "%23"))
        }
        let url = RequestedURL(path)
        guard let uri = url.decodedPath else { throw GrantError("path", "cannot be signed: " + url.problem) }
        return uri
    }
}

extension SecureLink {
    private static func contents(of grant: String) -> GrantContents? {
        let fields = QueryFields(grant)
        guard let digest = fields["md5"], let end = fields["expires"].flatMap(\.plainNumber),
            let bytes = try? Base64.decode(Array(digest.utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            bytes.count == 16
        else { return nil }
        return GrantContents(
            "link for nginx's secure_link",
            [(name: "md5", text: digest), (name: "expires", text: end.secondsWithDate)], end: end
        ) { question in
            let doubt = fields.doubt(about: ["md5", "expires"], in: question.url)
            return [doubt.map { GrantCheck(.format, decided: nil, $0) }, question.end(end, isInclusive: true)]
                .compactMap(\.self)
        }
    }
}
