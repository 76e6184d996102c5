package import MediaToken

/// The fields of a token to be signed, in the structure of the tokens that Adobe Pass issues.
package struct TokenRecipe: Sendable {
    package var kind = TokenKind.media
    /// The root element of a media token. Each other kind of token has a fixed one.
    package var root = "authToken"
    package var sessionGUID = "0123456789abcdef0123456789abcdef"
    package var requestor = "MML"
    package var resource = "TNT"
    package var mvpd = "TempPass"
    package var proxyMVPD: String?
    /// The TTL in milliseconds; real tokens have 420000.
    package var timeToLive: Int64 = 420_000
    package var issued: TokenDate
    /// The fields that a media token is to lack.
    package var omitted: Set<MediaTokenField> = []
    /// The fields that a media token is to have as empty elements.
    package var emptied: Set<MediaTokenField> = []
    /// The device that an AuthN or AuthZ token is bound to.
    package var device = "0000000000000000000000000000000000000000"

    package init(issued: TokenDate) {
        self.issued = issued
    }

    /// Creates a session GUID: 128 random bits in hexadecimal, as in real tokens.
    package static func freshSessionGUID() -> String {
        (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// The text to be signed.
    package var payload: String {
        switch kind {
        case .media: element(root, mediaFields)
        case .authentication: element(kind.roots[0], authenticationFields)
        case .authorization: element(kind.roots[0], authorizationFields)
        }
    }

    private var mediaFields: String {
        MediaTokenField.allCases.map { field in
            guard !omitted.contains(field), let text = emptied.contains(field) ? "" : text(of: field) else { return "" }
            return element("\(field.name)", text)
        }.joined()
    }

    private func text(of field: MediaTokenField) -> String? {
        switch field {
        case .sessionGUID: sessionGUID
        case .requestorID: escape(requestor)
        case .resourceID: escape(resource)
        case .ttl: String(timeToLive)
        case .issueTime: issued.written(as: .issueTime)
        case .mvpdID: escape(mvpd)
        case .proxyMVPDID: proxyMVPD.map(escape)
        }
    }

    private var authenticationFields: String {
        element("simpleTokenAuthenticationGuid", sessionGUID) + element("simpleSamlSessionIndex", sessionGUID)
            + element("simpleTokenRequestorID", escape(requestor)) + element("simpleTokenDomainName", "adobe.com")
            + element("simpleTokenExpires", expiry.written(as: .expiry)) + element("simpleTokenMsoID", escape(mvpd))
            + deviceElement + element("simpleSamlNameID", sessionGUID) + element("ttl", String(timeToLive / 1000))
    }

    private var authorizationFields: String {
        element("simpleTokenRequestorID", escape(requestor)) + element("simpleTokenResourceID", escape(resource))
            + element("simpleTokenTTL", expiry.written(as: .expiry)) + element("simpleTokenMsoID", escape(mvpd))
            + deviceElement
    }

    private var deviceElement: String {
        element("simpleTokenDeviceID", element("simpleTokenFingerprint", escape(device)))
    }

    /// The issue time in milliseconds since 1970, as in REST v2.
    package var issueMilliseconds: Int64 { issued.timestamp.milliseconds }
    /// The expiry in milliseconds since 1970, as in REST v1 and v2.
    package var expiryMilliseconds: Int64 { expiry.timestamp.milliseconds }

    /// The expiry of the token: its issue time plus the TTL.
    package var expiry: TokenDate {
        TokenDate(
            Timestamp(milliseconds: issued.timestamp.milliseconds + timeToLive), offset: issued.offset)
    }

    private func element(_ name: String, _ content: String) -> String {
        "<\(name)>\(content)</\(name)>"
    }

    /// Escapes `text` as Adobe Pass does: plain if possible, otherwise as a CDATA section, split at each `]]>`.
    ///
    /// It works on UTF-8, because `String` treats a `<` and a combining character after it as another character.
    private func escape(_ text: String) -> String {
        guard text.utf8.contains(where: { "<>&".utf8.contains($0) }) else { return text }
        let sections = Array(text.utf8).split(separator: Array("]]>".utf8), omittingEmptySubsequences: false)
        let content = sections.joined(separator: Array("]]]]><![CDATA[>".utf8))
        return "<![CDATA[" + String(decoding: Array(content), as: UTF8.self) + "]]>"
    }
}
